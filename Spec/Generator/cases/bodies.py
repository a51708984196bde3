"""Code that the vectors of `multipart` share: a body draft that a vector can damage."""

from bundle import upload, writer
from capbundle.format.faults import CODES

from .base import Case, Draft

METADATA, MANIFEST, ASSERTION, FIRST, SECOND, THIRD = range(6)  # indexes of the parts, in the order of a body
ANY_MARK = upload.PREFIX + b"0123456789abcdef" * 2 + b"01234567"


class Body:
    """A draft's body. Changes with head(), data() or in parts count; the boundary is computed later unless set."""

    def __init__(self, draft=None):
        self.draft = draft or Draft(with_depth=False)
        self.parts = upload.parts(self.draft.members())
        self.mark = None

    def head(self, index, old, new):
        """Replaces these bytes, which must occur once, in a part's head."""
        self.parts[index][0] = _replaced(self.parts[index][0], old, new)
        return self

    def data(self, index, data):
        self.parts[index][1] = data
        return self

    def text(self, old, new):
        """Replaces these bytes, which must occur once, in the metadata part."""
        return self.data(METADATA, _replaced(self.parts[METADATA][1], old, new))

    def marked(self, mark):
        """Sets the boundary, to these bytes or to that of an n."""
        self.mark = upload.boundary(self.parts[MANIFEST][1], mark) if isinstance(mark, int) else mark
        return self

    def boundary(self):
        data = [part[1] for part in self.parts]
        return self.mark or upload.first_free(self.parts[MANIFEST][1], data)

    def starts(self):
        """Returns the offset of the `--` before each part and before the closing boundary."""
        found, at = [], 0
        for head, data in self.parts:
            found.append(at)
            at += len(b"--\r\n\r\n") + len(self.boundary()) + len(head) + len(data)
        return found + [at]

    def bytes(self):
        return upload.join(self.boundary(), self.parts)


def _replaced(data, old, new):
    if data.count(old) != 1:
        raise ValueError("%r stands %d times in %r" % (old, data.count(old), data))
    return data.replace(old, new)


def case(name, covers, comment, body, draft=None, **options):
    """Makes a vector with the codes of the labels in covers; body may be bytes, with the draft that they stand for."""
    labels = covers.split(", ") if covers else []
    codes = {CODES[label] for label in labels}
    data = body if isinstance(body, bytes) else body.bytes()
    made = Case("multipart_" + name, ",".join(codes), covers, comment, data, **options)
    if made.exit_code in (0, 3, 4):
        made.headers = (("bundle-sha256", writer.sha256((draft or body.draft).bytes())),)
    return made


def sound(name, sections, comment, body, borders="", **options):
    """Makes a vector of a body that is accepted; sections are numbers of upload.md, borders the labels of rules that it
    just keeps."""
    made = case(name, "", comment, body, **options)
    covers = ["section %s of upload.md" % number for number in sections.split()] + borders.split()
    made.covers = ", ".join(covers)
    return made
