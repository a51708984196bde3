"""Few descriptors, little memory, and size limits: each command reports an error or does all of its work."""
import functools
import resource

from Kit.rigs import PHOTO
from Kit.outcomes import IS_LONG, expect, long
from Kit.invariants import clean, holds, only_strays, pushes, words_for_people
from Faults.memory import frugal, measured
from Kit.queues import few, ids

MEMORY = 40 << 20  # the promised limit for push, list and prune


def limited(kind, value):
    return functools.partial(resource.setrlimit, kind, (value, value))


def few_descriptors(bench):
    """32 descriptors are enough for a batch of any length; with fewer the push reports an error and does no harm."""
    rig = bench.rig()
    enough = limited(resource.RLIMIT_NOFILE, 32)
    rig.push(*bench.stock[:50 if IS_LONG else 36], preexec_fn=enough)
    for words in few([["status"], ["cancel", "--all"], ["prune", "--cancelled"], ["list"], ["check", "--read-data"],
                      ["hold", "--all"], ["release", "--all"]], 2):
        words_for_people(rig.run(*words, preexec_fn=enough).must(0, about=f"{words[0]} with 32 descriptors"))
    rig, worked = bench.rig(), 0
    rig.push(bench.stock[0])
    limits = range(6, 24, 1 if IS_LONG else 5)
    # libdispatch ended the process in about one of 15 pushes with 6 descriptors, while the processors were busy.
    for count in [6] * (80 if IS_LONG else 1) + [*limits]:
        result = rig.run("push", bench.stock[50].path, bench.stock[51].path,
                         preexec_fn=limited(resource.RLIMIT_NOFILE, count))
        result.must(0, 66, 70, 73, 74, 77, 127, about=f"{count} descriptors")
        expect(result.code == 0 or result.err, f"{count} descriptors: fails without a word")
        only_strays(rig, f"{count} descriptors")
        worked += result.code == 0
    expect(worked >= len(limits) * 5 // 18, f"only {worked} of {len(limits)} limits are enough")
    pushes(rig, *bench.stock[50:52])
    holds(rig, *bench.stock[50:52], rows=clean(rig))


def size_of_files(bench):
    """`ulimit -f` gives 74 with a message and never ends a process, whichever file cannot grow; what was promised stays."""
    sizes = (3000, 60_000, 0, 600, 12_000, 30_000, 120_000, 200_000)
    rig, (first, second, third) = bench.rig(), bench.stock[:3]
    rig.push(first)
    place, failed = rig.to_folder(), 0
    for size in few(sizes, 2):
        limit = limited(resource.RLIMIT_FSIZE, size)
        for words in (("push", second.path), ("hold", "--all"), ("release", "--all"), ("run",), ("backup", rig.out / "copy")):
            result = rig.run(*words, preexec_fn=limit).must(0, 15, 74, about=f"{words[0]} with {size} bytes")
            if result.code == 74:
                words_for_people(result, about=f"{words[0]} with {size} bytes").naming("(ulimit -f)", words[0])
                failed += 1
        new = bench.rig().run("push", third.path, preexec_fn=limit).must(0, 73, 74, about=f"a new queue with {size} bytes")
        expect(new.code == 0 or new.text.startswith("capqueue: error: "), f"a new queue with {size} bytes: {new.text!r}")
    expect(failed > 2, f"only {failed} commands failed")
    pushes(rig, second)
    rig.run("retry", "--all").must(0, about="retry")
    rig.run("run", "--until-empty").must(0, about="run without a limit")
    for bundle in (first, second):
        expect((place / f"{bundle.id}.bundle").read_bytes() == bundle.data, f"another copy of {bundle.id}")


@long
def memory_of_a_batch(bench):
    rig = bench.rig()
    frugal(measured(rig, "push", *(bundle.path for bundle in bench.stock)), 0, MEMORY, "push of 64 bundles")
    expect(len(clean(rig)) == len(bench.stock), "not all are there")
    for words in (["list"], ["list", "--json"], ["check", "--read-data"], ["cancel", "--all"],
                  ["prune", "--cancelled"]):
        frugal(measured(rig, *words), 0, MEMORY, " ".join(words))


@long
def memory_of_a_large_bundle(bench):
    """push, get and check handle 64 MB with memory that does not grow with the size."""
    large = bench.packed("large", PHOTO[:-2] + bytes(range(1, 251)) * 256_000 + PHOTO[-2:])
    rig = bench.rig()
    frugal(measured(rig, "push", large.path), 0, MEMORY, "push of 64 MB")
    frugal(measured(rig, "get", large.id, "-o", rig.out / "x"), 0, MEMORY, "get of 64 MB")
    expect((rig.out / "x").read_bytes() == large.data, "get gives other bytes")
    frugal(measured(rig, "check", "--read-data"), 0, MEMORY, "check of 64 MB")
    large.path.unlink()


def many_ids(bench):
    """Of more than 64 ids ArgumentParser sees two, because its time grows with the square of their number."""
    rig, stock = bench.rig(), bench.stock[:3]
    rig.push(*stock)
    named = [bundle.id for bundle in stock] * 30
    for command in ("hold", "cancel"):
        told = rig.run(command, *named[:50], "--dry-run", *named[50:-1], "--", named[-1]).must(0, about=command)
        expect(ids(told) == named, f"{command} --dry-run prints {ids(told)[:4]}, {len(ids(told))} in all")
    rig.run("hold", *named[:3]).must(0)
    expect(ids(rig.run("release", "--dry-run", *named).must(0)) == named, "release")
    rig.run("cancel", *named, "none").must(64, about="ids that are cancelled by then, and no id").naming("none")
    expect(ids(rig.run("retry", "--dry-run", *named).must(0)) == named, "retry")
    rig.run("hold", *named, "-").must(64, about="ids and -").naming("standard input")
    rig.run("prune", *named).must(64, about="ids without --cancelled").naming("--cancelled")
    told = rig.run("wait", *named).must(0).out.decode()
    expect(told.splitlines() == [f"{id} cancelled" for id in named], f"wait prints {told[:200]!r}")
    expect(sorted(rig.prune("--cancelled", *named)) == sorted(named[:3]), "prune")


TESTS = [
    ("90 ids in one call", many_ids),
    ("32 descriptors for 50 bundles; with fewer no harm is done", few_descriptors),
    ("ulimit -f: 74 with a message, and nothing that was promised is lost", size_of_files),
    ("memory of a batch", memory_of_a_batch),
    ("memory of a large bundle", memory_of_a_large_bundle),
]
