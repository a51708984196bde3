"""Makes the case of a number: a bundle or an upload body with one to three mutations.

The same number gives the same bytes on every machine with the same zlib. Most mutations change one piece. In half of
the cases, what depends on the piece (sizes, hashes, id, signature) is made again, so that a verifier finds the fault of
the piece and not a wrong signature. In every fourth group the photo has EXIF, and most of these bundles are sound.
"""

import random

from capbundle.format import canonical
from cases import base, valid

from Differential import assertions, bodies, containers, contents, manifests, photos, spellings, trusts

GROUP = 64  # cases that share a trust file and options
# The stage of each mutation and how often it is chosen.
_STAGES = {"contents": 10, "members": 4, "text": 2, "assertion": 5, "container": 5, "bytes": 1}
_CONTENTS = (contents.metadata_values, contents.metadata_values, contents.metadata_spelling, contents.metadata_spelling,
             contents.location_values, contents.location_values, contents.location_spelling, contents.depth_stream,
             contents.depth_stream, contents.depth_floats, contents.depth_description, contents.files, contents.files,
             contents.chain)


class Group:
    """A trust file and options, which the cases of a group share."""

    def __init__(self, number):
        rng = random.Random(f"group {number}")
        self.trust = trusts.sound(rng)
        self.allow_withheld, self.require = trusts.options(rng)
        self.jobs = rng.choice((1, 2, 4))
        self.has_exif = number % 4 == 3
        if self.has_exif:  # without --require, a disagreement is a warning
            self.require = rng.choice((("exif",), ("exif",), ("exif", "plausible"), ()))


class Case:
    """One input with its trust file and options."""

    def __init__(self, number):
        self.number = number
        rng = random.Random(f"case {number}")
        group = Group(number // GROUP)
        self.trust, self.allow_withheld, self.require = group.trust, group.allow_withheld, group.require
        self.is_body = rng.random() < 0.08
        draft, count, kind = _draft(rng), rng.choice((1, 1, 1, 2, 2, 3)), rng.random()
        self.has_exif, exif = group.has_exif, []
        if self.has_exif:
            draft, count = base.Draft(with_depth=rng.random() < 0.7), 1 if rng.random() < 0.1 else 0
            exif = photos.mutate(rng, draft)
        self.is_alone = not self.is_body and kind < 0.03
        self.is_piped = kind < 0.5 if self.is_body else 0.03 <= kind < 0.05
        if not self.is_body and kind < 0.02:  # the mutations are in the trust file
            self.trust, self.mutations, self.data = trusts.broken(rng), ["trust"], draft.bytes()
        else:
            self.mutations, self.data = (_body if self.is_body else _bundle)(rng, draft, count)
        self.mutations = exif + self.mutations

    @property
    def options(self):
        """The options of the tool besides the trust file."""
        required = ["--require", ",".join(self.require)] if self.require else []
        return ["--allow-withheld"] * self.allow_withheld + required

    def named(self):
        kind = ("body" if self.is_body else "bundle") + ", piped" * self.is_piped
        return f"{kind}, {' + '.join(self.mutations) or 'unchanged'}"


def _draft(rng):
    kind = rng.randrange(10)
    if kind == 6:
        return base.apple_draft(rng.choice((b"", b"", b"\xa2" + valid.CATEGORY + valid.VERSION)), rng.random() < 0.5)
    if kind == 7:
        draft = base.Draft()
        draft.withholdable = {"photo.jpg", "depth.f32.gz"}
        draft.absent = set(rng.sample(sorted(draft.withholdable), rng.randrange(3)))
        return draft
    if kind == 5:
        return valid.withheld()
    return valid.everything() if kind > 7 else base.Draft(with_location=kind in (2, 3), with_depth=kind != 4)


def _stages(rng, count):
    return sorted(rng.choices(list(_STAGES), list(_STAGES.values()), k=count), key=list(_STAGES).index)


def _seal(rng, draft, stages):
    """Builds the draft with its mutations; returns their names and the members of the archive."""
    names = []
    is_signed_again = rng.random() < 0.5
    if not is_signed_again:
        draft.sealed_manifest()
    for mutation in rng.choices(_CONTENTS, k=stages.count("contents")):
        names.append(mutation.__name__)
        mutation(rng, draft)
    if draft.fields is None:
        _list_again(draft)
    signed_before = draft.sealed_manifest() if not is_signed_again else None
    for _ in range(stages.count("members")):
        names.append("members")
        try:
            manifests.mutate(rng, draft.fields)
        except (AttributeError, IndexError, KeyError, TypeError):
            pass  # an earlier mutation removed what this one changes
        if rng.random() < 0.8:
            _renew_id(draft)
        draft.manifest_bytes = canonical.encode(draft.fields)
    for _ in range(stages.count("text")):
        names.append("text")
        draft.manifest_bytes = spellings.mutate(rng, draft.sealed_manifest())
    signing = assertions.Signing(draft)
    for _ in range(stages.count("assertion")):
        names.append("assertion")
        assertions.mutate(rng, signing)
    draft.assertion_bytes = signing.make(draft.sealed_manifest() if is_signed_again else signed_before)
    names.append("signed again" if is_signed_again else "signed before")
    return names, draft.members()


def _list_again(draft):
    """Makes the manifest of the draft. If a mutation prevents the computation of the id, uses an arbitrary id."""
    try:
        draft.manifest()
    except (KeyError, TypeError):
        draft.payload.pop("depth.f32.gz", None)
        draft.manifest()


def _renew_id(draft):
    try:
        draft.rename_id()
    except (KeyError, TypeError, AttributeError):
        pass  # the mutation removed something that the id is made from


def _bundle(rng, draft, count):
    stages = _stages(rng, count)
    names, members = _seal(rng, draft, stages)
    archive = containers.Archive(members)
    for _ in range(stages.count("container")):
        names.append("container")
        containers.mutate(rng, archive)
    data = archive.bytes()
    for _ in range(stages.count("bytes")):
        names.append("bytes")
        data = rng.choice((containers.bits, containers.bits, containers.splice))(rng, data)
    return names, data


def _body(rng, draft, count):
    stages = [stage if stage in ("contents", "members", "assertion") and rng.random() < 0.4 else "body"
              for stage in _stages(rng, count)]
    names, members = _seal(rng, draft, stages)
    try:
        body = bodies.Body(members)
    except (KeyError, TypeError, ValueError, StopIteration, AttributeError):
        # The metadata part cannot be made from this bundle.
        body, stages, names = bodies.Body(base.Draft().members()), ["body"], []
    for _ in range(stages.count("body")):
        names.append("body")
        bodies.mutate(rng, body)
    data = body.bytes()
    if rng.random() < 0.05:
        names.append("bytes")
        data = rng.choice((containers.bits, containers.splice))(rng, data)
    return names, data
