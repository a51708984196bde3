"""Makes the case of a number: a bundle or an upload body with one to three mutations.

The same number gives the same bytes on every machine with the same zlib. Most mutations change one piece. In half of
the cases, what depends on the piece (sizes, hashes, id, signature) is made again, so that a verifier finds the fault of
the piece and not a wrong signature.
"""

import random

from bundle import canonical
from cases import base, valid

import assertions
import bodies
import containers
import contents
import manifests
import spellings
import trusts

GROUP = 64  # cases that share a trust file and options
_BODIES = 0.08
_STAGES = {  # the stage of each mutation and how often it is chosen
    "contents": 10, "members": 4, "text": 2, "assertion": 5, "container": 5, "bytes": 1
}
_CONTENTS = (contents.metadata_values, contents.metadata_values, contents.metadata_spelling, contents.metadata_spelling,
             contents.location_values, contents.location_values, contents.location_spelling, contents.depth_stream,
             contents.depth_stream, contents.depth_floats, contents.depth_description, contents.files, contents.files,
             contents.chain)


class Group:
    """A trust file and options, which the cases of a group share."""

    def __init__(self, number):
        rng = random.Random("group %d" % number)
        self.trust = trusts.sound(rng)
        self.allow_withheld, self.require = trusts.options(rng)
        self.jobs = rng.choice((1, 2, 4))


class Case:
    """One input with its trust file and options."""

    def __init__(self, number):
        self.number = number
        rng = random.Random("case %d" % number)
        group = Group(number // GROUP)
        self.trust, self.allow_withheld, self.require = group.trust, group.allow_withheld, group.require
        self.is_alone = self.is_piped = False
        self.is_body = rng.random() < _BODIES
        draft = _draft(rng)
        count = rng.choice((1, 1, 1, 2, 2, 3))
        if self.is_body:
            self.is_piped = rng.random() < 0.5
            self.mutations, self.data = _body(rng, draft, count)
            return
        kind = rng.random()
        self.is_alone = kind < 0.03
        self.is_piped = 0.03 <= kind < 0.05
        if kind < 0.02:  # the mutations are in the trust file
            self.trust, self.mutations, self.data = trusts.broken(rng), ["trust"], draft.bytes()
            return
        self.mutations, self.data = _bundle(rng, draft, count)

    def named(self):
        return "%s, %s" % ("body" if self.is_body else "bundle", " + ".join(self.mutations) or "unchanged")


def _draft(rng):
    kind = rng.randrange(10)
    if kind < 2:
        return base.Draft()
    if kind < 4:
        return base.Draft(with_location=True)
    if kind == 4:
        return base.Draft(with_depth=False)
    if kind == 5:
        return valid.withheld()
    if kind == 6:
        return base.apple_draft(rng.choice((b"", b"", b"\xa2" + valid.CATEGORY + valid.VERSION)), rng.random() < 0.5)
    if kind == 7:
        draft = base.Draft()
        draft.withholdable = {"photo.jpg", "depth.f32.gz"}
        draft.absent = set(rng.sample(sorted(draft.withholdable), rng.randrange(3)))
        return draft
    return valid.everything()


def _stages(rng, count):
    return sorted(rng.choices(list(_STAGES), list(_STAGES.values()), k=count), key=list(_STAGES).index)


def _seal(rng, draft, stages):
    """Builds the draft with its mutations; returns their names and the members of the archive."""
    names = []
    is_signed_again = rng.random() < 0.5
    if not is_signed_again:
        draft.sealed_manifest()
    for _ in range(stages.count("contents")):
        mutation = rng.choice(_CONTENTS)
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
    signing = assertions.Signing(rng, draft)
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
    stages = [
        stage if stage in ("contents", "members", "assertion") and rng.random() < 0.4 else "body"
        for stage in _stages(rng, count)
    ]
    names, members = _seal(rng, draft, stages)
    try:
        body = bodies.Body(members)
    except (KeyError, TypeError, ValueError, StopIteration, AttributeError):
        body = bodies.Body(base.Draft().members())  # the metadata part cannot be made from this bundle
        stages = ["body"]
        names = []
    for _ in range(stages.count("body")):
        names.append("body")
        bodies.mutate(rng, body)
    data = body.bytes()
    if rng.random() < 0.05:
        names.append("bytes")
        data = rng.choice((containers.bits, containers.splice))(rng, data)
    return names, data
