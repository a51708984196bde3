"""Several captures of one photo: a server that is asked about the photo names only the first of them."""
import functools
import hashlib

from Kit.outcomes import IS_LONG, every, expect, long
from Kit.invariants import findings
from Kit.servers.capture_api import Answer, CaptureAPI
from Sending.captures import twins
from Sending.scenes import sending


def have_landed(bench, rig, api, bundles):
    """Checks that each bundle is completed with the id that the server gave to its own body, under one key."""
    ids = {capture.digest: capture.id for capture in api.stored}
    expect(len(api.stored) == len(ids) == len(bundles), f"the server holds {len(api.stored)} captures")
    for number, bundle in enumerate(bundles):
        digest = hashlib.sha256(bench.body(bundle)).hexdigest()
        row = rig.delivery(bundle)
        expect((row.state, row.remote_id) == ("completed", ids.get(digest)), f"{number}: is {row.state} as "
               f"{row.remote_id}, not {ids.get(digest)}")
        keys = {request.key for request in api.seen() if request.digest == digest}
        expect(len(keys) == 1, f"{number}: {len(keys)} keys")


def both_in_doubt(bench):
    """If two captures of one photo are in doubt and the server has one, nobody knows which, and both land."""
    has, lost = Answer(500, when="stored"), Answer(500)
    ends = {"the first": (has, lost), "the second": (lost, has), "both": (has, has), "neither": (lost, lost)}
    cases = {f"{name} stored, {word}": (answers, count) for name, answers in ends.items()
             for word, count in (("asked at once", 0), ("asked later", 2))}

    def judge(name, case):
        bundles = twins(bench)
        with sending(bench, bundles) as (rig, api):
            api.duplicates = "twice"
            api.answer(*case[0])
            api.answer(*[Answer(500)] * case[1], to="verify")
            rig.send("--until-empty", code=0)
            have_landed(bench, rig, api, bundles)

    every(cases if IS_LONG else dict(list(cases.items())[2:4]), judge)


def lands_apart(bench, rig, api, bundle, earlier):
    """Checks that a bundle whose first answer was a 500 was sent again and has the id of its own body."""
    digest = hashlib.sha256(bench.body(bundle)).hexdigest()
    row = rig.delivery(bundle)
    expect(row.remote_id not in earlier, f"is {row.state} as its twin's {row.remote_id}")
    own = [capture.id for capture in api.stored if capture.digest == digest]
    expect(len(own) == 1, f"the server holds it {len(own)} times, and it is {row.state} as {row.remote_id}")
    expect((row.state, row.remote_id) == ("completed", own[0]), f"is {row.state} as {row.remote_id}, not {own[0]}")
    sends = [request for request in api.seen() if request.digest == digest]
    expect(len(sends) == 2 and len({request.key for request in sends}) == 1, f"{len(sends)} uploads of it, under "
           f"{len({request.key for request in sends})} keys")
    expect(rig.receipt(bundle)["confirmed_by"] == "answer", f"the receipt is {rig.receipt(bundle)}")


def here(bench, rig, api, first):
    """The twin landed at the same destination."""
    rig.http(api.url)
    rig.push(first)
    rig.send("--until-empty", code=0)


def by_hand(bench, rig, api, first):
    """Another queue uploaded the twin, and the user marked it here: this queue never tried it and has no id."""
    other = bench.rig()
    for one in (other, rig):
        one.http(api.url)
        one.push(first)
    other.send("--until-empty", code=0)
    rig.uploaded(first)


def let_go(bench, rig, api, first):
    """The twin was stored, its reply was lost, and then it was cancelled and pruned."""
    rig.http(api.url)
    rig.push(first)
    api.answer(Answer(when="stored", then="cut"))
    api.always(Answer(500), to="verify")
    rig.send("--once", code=15)
    rig.run("cancel", first.id).must(0, about="cancel")
    rig.run("prune", "--cancelled").must(0, about="prune --cancelled")
    expect(not rig.spool_file(first).exists(), "prune keeps a cancelled capture")
    api.always(None, to="verify")


def with_an_id_elsewhere(bench):
    """Two servers, and two captures of one photo in doubt at the second, which has only the first: its answer is not
    taken for the other, although the first server has told an id of the first."""
    first, second = twins(bench)
    rig = bench.rig()
    with CaptureAPI(bench.public) as one, CaptureAPI(bench.public) as two:
        one.duplicates = two.duplicates = "twice"
        rig.http(one.url, name="one")
        rig.http(two.url)
        rig.push(first, options=("--dest", "one"))
        rig.send("--until-empty", code=0)
        rig.push(second, options=("--dest", "api"))
        rig.push(first, options=("--dest", "api"))
        two.answer(Answer(500), Answer(500, when="stored"))
        two.answer(*[Answer(500)] * 2, to="verify")
        rig.send("--until-empty", code=0)
        two.holds(*[bench.photo(first)] * 2)
        ids = {capture.digest: capture.id for capture in two.stored}
        for bundle in (first, second):
            own = ids.get(hashlib.sha256(bench.body(bundle)).hexdigest())
            expect(rig.delivery(bundle, "api").remote_id == own, f"{rig.delivery(bundle, 'api').remote_id}, not {own}")


def second_of_two(landing, bench):
    """A second capture of a photo is in doubt, and the server already has the first: `verified` is about the first."""
    first, second = twins(bench)
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.duplicates = "twice"
        landing(bench, rig, api, first)
        earlier = [capture.id for capture in api.stored]
        expect(len(earlier) == 1, f"the server holds {len(earlier)} at the start")
        api.answer(Answer(500))
        rig.push(second, options=("--dest", "api"))
        rig.send("--until-empty", code=(0, 15))
        lands_apart(bench, rig, api, second, earlier)
        api.content()


def remote(bench):
    """check --remote: `verified` about the first does not mean that the second is lost; it is not sent again."""
    first, second = twins(bench)
    with sending(bench, [first, second]) as (rig, api):
        api.duplicates = "twice"
        rig.send("--until-empty", code=0)
        for _ in range(2):
            found = [(line["kind"], line["id"]) for line in findings(rig.run("check", "--remote", "--json"))]
            expect(found == [("unconfirmed", second.id)], f"it finds {found}")
            rig.send("--until-empty", code=0)
            expect(rig.states() == {"completed"} and len(api.seen()) == 2, f"{len(api.seen())} uploads of two")


def others_are_none(bench):
    """A pruned capture of another photo, uploaded by other means, does not prevent that a capture is adopted."""
    other, bundle = bench.stock[:2]
    for add_first in (True, False) if IS_LONG else (True,):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            api.is_idempotent, api.duplicates = False, "500"
            if add_first:
                rig.http(api.url)
            rig.push(other)
            rig.uploaded(other, days=8)
            rig.run("prune").must(0, about="prune")
            expect(not rig.spool_file(other).exists(), "prune keeps an uploaded capture")
            if not add_first:
                rig.http(api.url)
            api.answer(Answer(500, when="stored"))
            rig.push(bundle)
            rig.send("--until-empty", code=0)
            expect(len(api.seen()) == 1, f"{len(api.seen())} uploads of one")
            expect(rig.receipt(bundle)["confirmed_by"] == "verify-file", f"the receipt is {rig.receipt(bundle)}")


TESTS = [
    ("two captures of one photo in doubt", both_in_doubt),
    ("two captures of one photo in doubt at one of two servers", with_an_id_elsewhere),
    ("a capture of another photo does not count", others_are_none),
    ("the first landed at the same destination", functools.partial(second_of_two, here)),
    ("the first was marked as uploaded", long(functools.partial(second_of_two, by_hand))),
    ("the first was cancelled and pruned in doubt", functools.partial(second_of_two, let_go)),
    ("check --remote", remote),
]
