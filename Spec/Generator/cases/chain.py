"""chain: H1 to H3, over several bundles of one or two devices."""

import copy

from bundle import signing, writer
from capbundle.format import assertion

from .base import APP_HASH, KEY, OTHER_KEY, PHONE_KEY, PHONE_TRUST, TRUST, Case, Draft, apple_draft, trust_line

GREATEST = 9007199254740991


def case(name, codes, covers, comment, body, *sides, **options):
    """One vector; body is a draft, sides are (name, draft) pairs."""
    sides = [("chain_" + side, draft) for side, draft in sides]
    return Case("chain_" + name, codes, covers, comment, body, sides=sides, **options)


def link(seq, before=None, counter=None, note="", draft=None):
    """A capture with this seq that follows another draft. Another note makes it another capture."""
    draft = draft or Draft(with_depth=False)
    draft.chain = {"seq": seq}
    if seq > 1:
        draft.chain["prev"] = writer.sha256(before.sealed_manifest()) if before else "5a" * 32
    if note:
        draft.payload["source/note"] = note.encode()
    return signed(draft, seq if counter is None else counter)


def signed(draft, counter):
    """The same draft under another counter; its manifest is the same."""
    draft = copy.deepcopy(draft)
    draft.assertion_bytes = None
    disk = draft.auth_data[:32] == assertion.DISK_RP_ID_HASH
    draft.auth_data = (signing.authenticator_data(counter) if disk else
                       signing.authenticator_data(counter, APP_HASH, assertion.APPLE_FLAGS))
    return draft


def line(count, **options):
    """Returns the drafts of links 1 to count."""
    drafts = []
    for seq in range(1, count + 1):
        key = options.get("key")
        drafts.append(link(seq, drafts[-1] if drafts else None, draft=Draft(with_depth=False, key=key) if key else None))
    return drafts


def cases():
    one, two, three, four, five = line(5)
    yield case("whole", "", "section 11.3", "links 1 to 3, given in another order", two, ("3", three), ("1", one))
    yield case("one", "", "section 11.3", "a single link, the first", one)
    yield case("begins_late", "", "section 11.3", "links 3 to 5: a missing start is not a fault", four, ("3", three),
               ("5", five))
    yield case("without", "", "section 11.3", "a bundle without a chain beside links 1 and 2", Draft(with_depth=False),
               ("1", one), ("2", two))
    yield from _copies(one, two, three)
    yield from _devices(one, two, three)
    yield from _heads(one, two, three)
    yield from _gaps(one, two, three, four, five)
    yield from _forks(one, two, three)
    yield from _orders(one, two, three, four)


def _copies(one, two, three):
    yield case("twice", "", "section 11.3", "link 1 is given twice, byte for byte", one, ("1", one), ("2", two))
    whole = Draft(with_depth=False, with_location=True)
    whole = link(2, one, draft=whole)
    bare = copy.deepcopy(whole)
    bare.absent = {"location.json"}
    yield case("withheld_copy", "", "section 11.3, section 8", "link 2 is given whole, and with its position withheld",
               bare, ("1", one), ("2_whole", whole))
    yield case("signed_again", "", "section 11.3", "link 2 was signed twice, under the counters 2 and 3", two, ("1", one),
               ("2_signed_again", signed(two, 3)), ("3_later", signed(three, 4)))
    yield case("signed_again_late", "chain.order", "H3",
               "a copy of link 1 has the counter 9, which is above that of link 2", signed(one, 9), ("1", one),
               ("2", two))
    yield case("signed_again_early", "chain.order", "H3", "a copy of link 2 has the counter 1, that of link 1",
               signed(two, 1), ("1", one), ("2", two))


def _devices(one, two, three):
    others = line(2, key=OTHER_KEY)
    yield case("two_devices", "", "section 11.3", "two devices have links 1 and 2 each", one, ("2", two),
               ("other_1", others[0]), ("other_2", others[1]), trust=(TRUST, trust_line(OTHER_KEY, "other")))
    yield case("two_devices_one_gap", "chain.gap", "H1", "one device lacks link 2; the other device has a link 2", one,
               ("3", three), ("other_1", others[0]), ("other_2", others[1]))
    yield case("unknown", "", "section 11.3", "the trust file does not name the key, which is not a fault here", one,
               ("2", two), trust=())
    yield case("revoked", "", "section 11.3", "the key is revoked, which is not a fault here", one, ("2", two),
               trust=(TRUST, trust_line(KEY, "stolen", "revoked")))
    yield case("trust_file", "trust.file", "T0", "a line of the trust file is broken", one, ("2", two),
               trust=(TRUST, "studio p256"))
    phone = [link(1, None, 7, draft=apple_draft(with_depth=False))]
    phone.append(link(2, phone[0], 19, draft=apple_draft(with_depth=False)))
    yield case("apple", "", "section 11.3", "links 1 and 2 of an Apple key, with counters 7 and 19", phone[1],
               ("apple_1", phone[0]), trust=PHONE_TRUST)
    yield case("apple_order", "chain.order", "H3", "link 2 of an Apple key has the counter of link 1",
               signed(phone[1], 7), ("apple_1", phone[0]), trust=PHONE_TRUST)


def _heads(one, two, three):
    def sides(*more):
        return (("1", one), ("3", three)) + more

    changed = two.bytes().replace(b"\xff\xd8\xff", b"\xff\xd8\xfe")
    yield case("contents_changed", "", "section 11.3", "the photo of link 2 was changed; contents are not checked",
               changed, *sides())
    head = two.bytes().index(b"metadata.json\0")
    yield case("cut_after_head", "", "section 11.3", "the file of link 2 ends after the assertion",
               two.bytes()[:head], *sides())
    yield case("cut_in_head", "chain.gap,container.truncated", "C1, H1",
               "the file of link 2 ends inside the padding of the assertion, so it is not part of the chain",
               two.bytes()[:head - 1], *sides())
    forged = copy.deepcopy(two)
    forged.assertion_bytes = signing.make(two.sealed_manifest(), OTHER_KEY, two.auth_data)
    yield case("forged", "assertion.signature,chain.gap", "A7, H1",
               "another key signed link 2, so it is not part of the chain", forged, *sides())
    yield case("forged_and_real", "assertion.signature", "A7", "link 2, and the same manifest signed by another key",
               forged, *sides(("2", two)))
    flags = copy.deepcopy(two)
    flags.auth_data = signing.authenticator_data(2, flags=0x01)
    flags.assertion_bytes = None
    yield case("flags", "assertion.flags,chain.gap", "A4, H1",
               "the signature of link 2 is right, but its flags are not those of a disk key", flags, *sides())
    edited = two.bytes().replace(b'"seq":2', b'"seq":4')
    yield case("edited", "assertion.signature,chain.gap", "A7, H1", "seq of link 2 was changed to 4 after signing",
               edited, *sides())
    yield case("not_a_bundle", "container.magic", "C2", "a photo beside links 1 and 2", one.payload["photo.jpg"] * 4,
               ("1", one), ("2", two))
    yield case("empty", "container.truncated", "C1", "an empty file beside links 1 and 2", b"", ("1", one), ("2", two))


def _gaps(one, two, three, four, five):
    yield case("gap", "chain.gap", "H1", "link 2 is missing", one, ("3", three))
    yield case("gap_two", "chain.gap", "H1", "links 2 and 4 are missing", one, ("3", three), ("5", five))
    yield case("gap_late_start", "chain.gap", "H1", "links 1 and 3 are missing; only link 3 is a fault", two, ("4", four))
    last = link(GREATEST, None, 4294967295)
    yield case("gap_greatest", "chain.gap", "H1", "links 1 and 2^53 - 1, and none between them", one, ("last", last))


def _forks(one, two, three):
    twin = link(2, one, 3, "another photo of the same moment")
    yield case("fork", "chain.fork", "H2", "two captures have seq 2 and follow link 1", twin, ("1", one), ("2", two))
    yield case("fork_first", "chain.fork", "H2", "two captures have seq 1", link(1, None, 5, "another start"), ("1", one))
    yield case("fork_last_alone", "chain.fork", "H2", "two captures have seq 2, and nothing else is given", twin,
               ("2", two))
    yield case("fork_absent", "chain.fork", "H2", "link 3 follows another link 2 than the one that is given",
               link(3, twin, 4), ("1", one), ("2", two))
    yield case("fork_absent_counter", "chain.fork", "H2",
               "link 3 follows another link 2 than the one that is given, whose counter is higher",
               link(3, twin, 2), ("1", one), ("2_signed_again", signed(two, 3)))
    after = link(3, twin, 103)
    yield case("fork_branches", "chain.fork", "H2",
               "two branches of two links each; the counters of each branch rise, those of one are higher", after,
               ("1", one), ("2", two), ("3", three), ("2_branch", signed(twin, 102)))
    yield case("fork_one_end", "chain.fork", "H2", "link 3 follows one of two links 2", three, ("1", one), ("2", two),
               ("2_branch", signed(twin, 102)))
    yield case("fork_and_gap", "chain.fork,chain.gap", "H1, H2", "two captures have seq 1, and link 2 is missing", three,
               ("1", one), ("1_twin", link(1, None, 2, "another start")))


def _orders(one, two, three, four):
    yield case("order", "chain.order", "H3", "link 2 has the counter 1, that of link 1", signed(two, 1), ("1", one))
    yield case("order_lower", "chain.order", "H3", "link 2 has a lower counter than link 1", two,
               ("1_late", signed(one, 4294967295)))
    yield case("order_after_gap", "chain.gap,chain.order", "H1, H3",
               "link 2 is missing, and link 3 has the counter of link 1", signed(three, 1), ("1", one))
    twin = link(1, None, 9, "another start")
    yield case("order_after_forked_gap", "chain.fork,chain.gap", "H1, H2",
               "link 2 is missing; link 3 has a counter above the lower one of two links 1", three, ("1", one),
               ("1_twin_late", twin))
    yield case("order_after_two_high", "chain.fork,chain.gap,chain.order", "H1, H2, H3",
               "link 2 is missing; link 3 has a counter below those of both links 1", three,
               ("1_late", signed(one, 4294967295)), ("1_twin_late", twin))
    yield case("order_in_branch", "chain.fork,chain.order", "H2, H3",
               "two links 2; link 3 has a lower counter than the one that it follows", three, ("1", one),
               ("2_high", signed(two, 7)), ("2_branch_low", link(2, one, 2, "another photo of the same moment")))
    later = Draft(with_depth=False)
    later.time = "2026-03-14T08:26:52.589Z"
    later.set_metadata(dict(captured_at="2026-03-14T09:26:52.589793+01:00", device_model="Example Phone 3"))
    yield case("time_back", "", "section 11.3", "link 2 claims an earlier time than link 1, which is not a fault",
               link(2, one, draft=later), ("1", one))
