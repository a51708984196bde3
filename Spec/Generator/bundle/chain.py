"""The chains of devices (section 11.3): H1 to H3, over the heads of any number of bundles."""

import collections
import hashlib

from capbundle.format import assertion, manifest
from capbundle.format.container import Reader
from capbundle.format.faults import Fault

Link = collections.namedtuple("Link", "key_id seq sha256 prev counters")


def read_head(stream):
    """Returns (Link or None, faults) of a bundle; nothing after the assertion is read."""
    try:
        head = Reader(stream).read_head()
        sound = manifest.judge(head[0])
    except Fault as fault:
        return None, [fault]
    faults, _ = assertion.judge(head[1], sound.data, sound.point)
    if faults or not sound.chain:
        return None, faults
    auth_data = assertion.parse(head[1])[1]
    counter = int.from_bytes(auth_data[33:37], "big")
    return Link(sound.key_id, int(sound.chain["seq"]), hashlib.sha256(head[0]).hexdigest(), sound.chain.get("prev"),
                frozenset([counter])), []


def judge(copies):
    """Returns {key id: faults} for all copies of links, in any order."""
    links = {}
    for copy in copies:
        place = copy.key_id, copy.seq, copy.sha256
        known = links.get(place, copy)
        links[place] = known._replace(counters=known.counters | copy.counters)
    found = {}
    for key_id in sorted({link.key_id for link in links.values()}):
        by_seq = collections.defaultdict(list)
        for link in links.values():
            if link.key_id == key_id:
                by_seq[link.seq].append(link)
        found[key_id] = list(_judge_chain(by_seq))
    return found


def _judge_chain(by_seq):
    seqs = sorted(by_seq)
    for lower, seq in zip([None] + seqs, seqs):
        if lower is not None and lower != seq - 1:
            yield Fault("H1", "nothing between %d and %d" % (lower, seq))
        if len(by_seq[seq]) > 1:
            yield Fault("H2", "%d links with seq %d" % (len(by_seq[seq]), seq))
        for link in by_seq[seq] if lower is not None else ():
            followed = _followed(link, by_seq[lower], lower)
            if followed is None:
                yield Fault("H2", "link %d follows a link that is not among the files" % seq)
            elif min(link.counters) <= max(followed.counters):
                yield Fault("H3", "link %d has counter %d" % (seq, min(link.counters)))


def _followed(link, before, lower):
    if lower == link.seq - 1:
        return next((one for one in before if one.sha256 == link.prev), None)
    return min(before, key=lambda one: max(one.counters))
