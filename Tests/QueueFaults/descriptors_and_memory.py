"""Few descriptors, little memory, and size limits: each command reports an error or does all of its work."""
import functools
import resource
import signal

from bench import PHOTO
from checks import expect
from invariants import clean, gives, holds, only_strays, pushes, words_for_people
from memory import frugal, measured
from queues import ids

MEMORY = 40 << 20  # the promised limit for push, list and prune


def limited(kind, value):
    return functools.partial(resource.setrlimit, kind, (value, value))


def few_descriptors(bench):
    """32 descriptors are enough for a batch of any length; with fewer the push reports an error and does no harm."""
    rig = bench.rig()
    few = limited(resource.RLIMIT_NOFILE, 32)
    rig.push(*bench.stock[:50], preexec_fn=few)
    for words in (["list"], ["check", "--read-data"], ["status"], ["hold", "--all"], ["release", "--all"],
                  ["cancel", "--all"], ["prune", "--cancelled"]):
        words_for_people(rig.run(*words, preexec_fn=few).must(0, about=f"{words[0]} with 32 descriptors"))
    worked = 0
    for count in range(6, 24):
        result = rig.run("push", bench.stock[50].path, bench.stock[51].path,
                         preexec_fn=limited(resource.RLIMIT_NOFILE, count))
        result.must(0, 66, 70, 73, 74, 77, 127, about=f"{count} descriptors")
        expect(result.code == 0 or result.err, f"{count} descriptors: fails without a word")
        only_strays(rig, f"{count} descriptors")
        worked += result.code == 0
    expect(worked >= 5, f"only {worked} of 18 limits are enough")
    pushes(rig, *bench.stock[50:52])
    holds(rig, *bench.stock[50:52], rows=clean(rig))


def memory_of_a_batch(bench):
    rig = bench.rig()
    frugal(measured(rig, "push", *(bundle.path for bundle in bench.stock)), 0, MEMORY, "push of 64 bundles")
    expect(len(clean(rig)) == len(bench.stock), "not all are there")
    for words in (["list"], ["list", "--json"], ["check", "--read-data"], ["cancel", "--all"],
                  ["prune", "--cancelled"]):
        frugal(measured(rig, *words), 0, MEMORY, " ".join(words))


def memory_of_a_large_bundle(bench):
    """push, get and check handle 64 MB with memory that does not grow with the size."""
    large = bench.packed("large", PHOTO[:-2] + bytes(range(1, 251)) * 256_000 + PHOTO[-2:])
    rig = bench.rig()
    frugal(measured(rig, "push", large.path), 0, MEMORY, "push of 64 MB")
    frugal(measured(rig, "get", large.id, "-o", rig.out / "x"), 0, MEMORY, "get of 64 MB")
    expect((rig.out / "x").read_bytes() == large.data, "get gives other bytes")
    frugal(measured(rig, "check", "--read-data"), 0, MEMORY, "check of 64 MB")
    large.path.unlink()


def address_space(bench):
    """With too little memory the command is killed, reports an error or does all of its work; the queue stays whole."""
    rig = bench.rig()
    rig.push(bench.stock[0])
    worked = 0
    for size in (16, 24, 32, 48, 64, 96, 128, 256, 512):
        result = rig.run("push", *(bundle.path for bundle in bench.stock[1:10]),
                         preexec_fn=limited(resource.RLIMIT_AS, size << 20))
        expect(result.code or len(ids(result)) == 9, f"{size} MiB: prints {len(ids(result))} ids")
        only_strays(rig, f"{size} MiB")
        holds(rig, bench.stock[0], about=f"{size} MiB")
        worked += result.code == 0
    expect(worked, "512 MiB of addresses are not enough")
    pushes(rig, *bench.stock[1:10])
    clean(rig)


def file_size_limit(bench):
    """`ulimit -f` kills with SIGXFSZ, or gives 74 if that signal is ignored; no partial result stays."""
    rig = bench.rig()
    rig.push(*bench.stock[:2])
    large = bench.packed("above the limit", PHOTO[:-2] + b"\x11" * 3_000_000 + PHOTO[-2:])

    def limit(disposition):
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
        signal.signal(signal.SIGXFSZ, disposition)

    for disposition, codes in ((signal.SIG_DFL, (-signal.SIGXFSZ, 74)), (signal.SIG_IGN, (74,))):
        result = rig.run("push", large.path, restore_signals=False, preexec_fn=functools.partial(limit, disposition))
        result.must(*codes, about="push above the limit")
        expect(not result.out, f"prints {result.out!r}")
        clean(rig, "after the limit")
    rig.push(large)
    gives(rig, large, bench.stock[0])


def quota(bench):
    """The limit refuses one bundle or a batch with 12 before anything is written, but not captures that are stored."""
    rig = bench.rig()
    rig.push(*bench.stock[:3])
    used = sum(len(bundle.data) for bundle in bench.stock[:3])
    room = len(bench.stock[3].data)
    rig.run("config", "limit", str(used + room)).must(0, about="config limit")
    before = rig.names()
    result = rig.run("push", bench.stock[3].path, bench.stock[4].path).must(12, about="a batch over the limit")
    words_for_people(result)
    printed = ids(result)
    # One of the two fits. The tool may take either one, or none.
    expect(printed in ([], [bench.stock[3].id], [bench.stock[4].id]), f"a batch over the limit prints {printed}")
    if not printed:
        expect(rig.names() == before, f"a refused push writes {set(rig.names()) - set(before)}")
        rig.push(bench.stock[3])
    other = bench.stock[3 if printed == [bench.stock[4].id] else 4]
    before = rig.names()
    rig.run("push", other.path).must(12, about="push over the limit")
    expect(rig.names() == before, f"a refused push writes {set(rig.names()) - set(before)}")
    pushes(rig, bench.stock[0])
    rows = clean(rig)
    expect(len(rows) == 4, f"{len(rows)} captures instead of 4")
    rig.run("push", "--reference", other.path).must(0, about="a reference takes no room")
    rig.run("config", "limit", "none").must(0, about="config limit none")
    rig.run("config", "free-floor", "900TB").must(0, about="config free-floor")
    result = rig.run("push", bench.stock[5].path).must(12, about="below the floor")
    expect(not result.out and bench.stock[5].id not in rig.rows(), "below the floor something is stored")


TESTS = [
    ("32 descriptors for 50 bundles; with fewer no harm is done", few_descriptors),
    ("memory of a batch", memory_of_a_batch),
    ("memory of a large bundle", memory_of_a_large_bundle),
    ("little address space", address_space),
    ("a limit on file sizes: no partial result stays", file_size_limit),
    ("the quota and the floor refuse with 12 and write nothing", quota),
]
