"""Mutations of upload bodies: part order, headers, boundaries, sizes, cuts."""

from bundle import upload
from capbundle.format.container import header

from Differential import borders

_LINES = ((b"form-data", b"Form-Data"), (b"Content-Disposition", b"content-disposition"), (b'"\r\n', b'"\n'),
          (b"Content-Type: ", b"Content-Type:"), (b"; name=", b";name="), (b'name="', b"name='"),
          (b"\r\n\r\n", b"\r\n \r\n"), (b"\r\n\r\n", b"\n\n"), (b"\r\n\r\n", b"\r\n"), (b"depth_map", b"depth"),
          (b"\r\nContent-Type", b"\r\nContent-Length: 1\r\nContent-Type"), (b"\r\n\r\n", b"\r\n\r\n\r\n"),
          (b"application/json", b"application/json; charset=utf-8"), (b"capture.jpg", b"photo.jpg"),
          (b'filename="', b'filename*="'), (b"; filename", b";  filename"), (b"image/jpeg", b"image/JPEG"),
          (b"Content-Disposition: form-data", b"X: 1\r\nContent-Disposition: form-data"), (b"metadata", b"Metadata"),
          (b"manifest", b"manifest\0"), (b"assertion.cbor", b"assertion"), (b"version=1", b"version=2"))
_AFTER = (b"", b"\r\n", b"\n", b"-", b"--", b"\r", b" ", b"--\n", b"\0", b"epilogue")


class Body:
    """An upload body in pieces."""

    def __init__(self, members):
        self.parts = [list(part) for part in upload.parts(members)]
        self.manifest = dict(members)["manifest.json"]
        self.mark = None
        self.opening, self.after = b"--", b"--\r\n"
        self.between = {}  # index of a part: the bytes instead of CRLF after its data
        self.cut = None

    def boundary(self):
        if self.mark is None:
            self.mark = upload.first_free(self.manifest, [data for _, data in self.parts])
        return self.mark

    def bytes(self):
        mark = self.boundary()
        pieces = []
        for index, (head, data) in enumerate(self.parts):
            pieces += [b"--" if index else self.opening, mark, b"\r\n", head, data, self.between.get(index, b"\r\n")]
        whole = b"".join(pieces) + b"--" + mark + self.after
        return whole if self.cut is None else whole[:self.cut(whole)]


def mutate(rng, body):
    rng.choice(_MUTATIONS)(rng, body)


def _add(rng, body):
    part = [upload.head("source/zz", "zz", "application/octet-stream"), header("photo.jpg", 1)[:rng.randrange(512)]]
    body.parts.insert(rng.randrange(len(body.parts) + 1), part)


def _head(rng, body):
    part = rng.choice(body.parts)
    old, new = rng.choice(_LINES)
    part[0] = part[0].replace(old, new, 1)


def _mark(rng, body):
    other = upload.boundary(body.manifest, rng.randrange(17))
    body.mark = rng.choice(
        (other, other, other.upper(), upload.PREFIX + b"0" * 40, upload.PREFIX + b"0" * 39, other + b"0", b"x", b""))


def _inside(rng, body):
    """Puts a boundary, or a part of a delimiter, into the data of a part."""
    part = rng.choice(body.parts)
    mark = rng.choice((body.boundary(), body.boundary(), upload.boundary(body.manifest, rng.randrange(3))))
    whole = rng.choice((b"", b"\r\n", b"\r\n--", b"--")) + mark
    whole = rng.choice((whole, whole[:-1], whole + b"--\r\n", whole + b"\r\n"))
    at = rng.randrange(len(part[1]) + 1)
    part[1] = rng.choice((part[1][:at] + whole + part[1][at:], part[1][:at] + whole + part[1][at + len(whole):]))
    if rng.random() < 0.5:
        body.mark = None


def _size(rng, body):
    part = rng.choice(body.parts)
    count = rng.choice((1, 2, 10, 55, 58, 59, 60, 100))
    part[1] = rng.choice((part[1][:-count], part[1] + bytes(count), part[1] + b"\r\n", b"", part[1] + b"\r\n--"))


def _limit(rng, body):
    part = rng.choice(body.parts[:3])
    limit = 16384 if part is body.parts[0] else 4096
    part[1] = (part[1] + b"0" * limit)[:limit + rng.choice((-1, 0, 1, 57, 58, 59, 60))]


def _described(rng, body):
    """Changes a byte or some text of the metadata part."""
    data = body.parts[0][1]
    at = rng.randrange(len(data) + 1)
    body.parts[0][1] = rng.choice(
        (data[:at] + b" " + data[at:], data[:at] + data[at + 1:], data.replace(b'"photo_hash"', b'"photo_hash_"'),
         data.replace(b"59.3293", b"59.32930"), data.replace(b"Example", b"\\u0045xample"), data + b"\n", b"{}",
         data.replace(b"Z", b"+00:00")))


def _between(rng, body):
    body.between[rng.randrange(len(body.parts))] = rng.choice(
        (b"\n", b"", b"\r\n\r\n", b"\r", b" \r\n", b"\r\n-", b"\r\n "))


def _ends(rng, body):
    if rng.random() < 0.5:
        body.after = rng.choice(_AFTER + (b"--\r\n\r\n", b"--\r\n--", b"--\r\nx", b"--\r\n\0", b" --\r\n", b"---\r\n"))
    else:
        body.opening = rng.choice((b"\r\n--", b"-", b"---", b"", b"preamble\r\n--", b" --", b"\xef\xbb\xbf--"))


def _cut(rng, body):
    """Ends the body anywhere, often near a boundary."""

    def place(whole):
        if rng.random() < 0.5:
            return rng.randrange(len(whole) + 1)
        at = -1
        for _ in range(rng.randrange(1, len(body.parts) + 2)):
            at = whole.find(body.mark, at + 1)
        return max(0, at + rng.choice((-4, -3, -2, -1, 0, 1, 54, 55, 56, 57, 58, 59)))

    body.cut = place


_MUTATIONS = (*(lambda rng, body, change=change: change(rng, body.parts) for change in borders.CHANGES), _add, _head,
              _head, _mark, _inside, _inside, _size, _size, _limit, _described, _described, _between, _ends, _cut, _cut)
