"""Captures of one photo: a server that is asked for the photo tells the first, and no other is taken for that one."""
import functools
import hashlib
import os

from capture_api import Answer, CaptureAPI
from checks import expect
from proofs import twins
from put_bytes import findings, referred


def lands_apart(bench, rig, api, bundle, earlier):
    """A bundle whose first answer was a 500 that stored nothing was sent again, and has the id of its own body."""
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


def elsewhere(bench, rig, api, first):
    """It landed by another destination of the same queue."""
    rig.http(api.url, name="one")
    rig.push(first, options=("--dest", "one"))
    rig.send("--until-empty", code=0)
    rig.http(api.url)


def by_hand(bench, rig, api, first):
    """It was brought there by other means, and marked here: the queue never tried it, and knows no id."""
    other = bench.rig()
    for one in (other, rig):
        one.http(api.url)
        one.push(first)
    other.send("--until-empty", code=0)
    rig.uploaded(first)


def let_go(bench, rig, api, first):
    """It was stored, its reply was lost, and here it was cancelled and pruned."""
    rig.http(api.url)
    rig.push(first)
    api.answer(Answer(when="stored", then="cut"))
    api.always(Answer(500), to="verify")
    rig.send("--once", code=15)
    rig.run("cancel", first.id).must(0, about="cancel")
    rig.run("prune", "--cancelled").must(0, about="prune --cancelled")
    expect(not rig.spool_file(first).exists(), "prune keeps what was cancelled")
    api.always(None, to="verify")


def second_of_two(landing, bench):
    """A second capture of a photo that is on the server already, in doubt: `verified` is of the first."""
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
    """check --remote: `verified` as the first says nothing of the second, which is there: not lost, not sent again."""
    first, second = twins(bench)
    rig = bench.rig()
    with CaptureAPI(bench.public) as api:
        api.duplicates = "twice"
        rig.http(api.url)
        rig.push(first, second)
        rig.send("--until-empty", code=0)
        for _ in range(2):
            found = [(line["kind"], line["id"]) for line in findings(rig.run("check", "--remote", "--json"))]
            expect(found == [("unconfirmed", second.id)], f"it finds {found}")
            rig.send("--until-empty", code=0)
            expect(rig.states() == {"completed"} and len(api.seen()) == 2, f"{len(api.seen())} uploads of two")


def a_pipe(bench):
    """The referred file of the first, which is in doubt, has become a pipe that nobody writes: no run waits for it."""
    first, second = twins(bench)
    rig, path = referred(bench, "first", first)
    with CaptureAPI(bench.public) as api:
        api.duplicates = "twice"
        rig.http(api.url)
        rig.run("push", "--reference", path).must(0, about="push --reference")
        api.answer(Answer(when="stored", then="cut"))
        api.always(Answer(500), to="verify")
        rig.send("--once", code=15)
        rig.run("hold", first.id).must(0, about="hold")
        api.always(None, to="verify")
        path.unlink()
        os.mkfifo(path)
        earlier = [capture.id for capture in api.stored]
        api.answer(Answer(500))
        rig.push(second)
        rig.send("--until-empty", code=(0, 15))
        lands_apart(bench, rig, api, second, earlier)


def others_are_none(bench):
    """A capture of another photo whose bytes were let go, uploaded by other means, keeps nobody from being adopted."""
    other, bundle = bench.stock[:2]
    for add_first in (True, False):
        rig = bench.rig()
        with CaptureAPI(bench.public) as api:
            api.is_idempotent, api.duplicates = False, "500"
            if add_first:
                rig.http(api.url)
            rig.push(other)
            rig.uploaded(other, days=8)
            rig.run("prune").must(0, about="prune")
            expect(not rig.spool_file(other).exists(), "prune keeps what was uploaded")
            if not add_first:
                rig.http(api.url)
            api.answer(Answer(500, when="stored"))
            rig.push(bundle)
            rig.send("--until-empty", code=0)
            expect(len(api.seen()) == 1, f"{len(api.seen())} uploads of one")
            expect(rig.receipt(bundle)["confirmed_by"] == "verify-file", f"the receipt is {rig.receipt(bundle)}")


FAMILY = [
    ("a capture of another photo is none", others_are_none),
    ("the first landed by another destination", functools.partial(second_of_two, elsewhere)),
    ("the first was marked as uploaded", functools.partial(second_of_two, by_hand)),
    ("the first was cancelled and pruned in doubt", functools.partial(second_of_two, let_go)),
    ("check --remote", remote),
    ("the first has become a pipe", a_pipe),
]
