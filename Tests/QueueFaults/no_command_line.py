"""Without a command line that Swift's runtime can find, or without a command, the tool never reports success."""
from checks import every, expect
from invariants import clean, gives
from no_arguments import preloaded


def hidden(bench):
    """push works although a preloaded library hides the arguments, and refuses an empty name."""
    rig = bench.rig()
    env = preloaded(bench)
    pushed = rig.run("push", bench.stock[0].path, env=env).must(0, about="push").out.decode()
    expect(bench.stock[0].id in pushed, f"push prints {pushed!r}")
    rig.run("push", "", env=env).must(64, 66, about="push of an empty name")
    rig.run("push", rig.out / "nowhere", env=env).must(66, about="push of nothing")
    gives(rig, bench.stock[0])
    clean(rig)


def no_command(bench):
    def judge(_, words):
        result = bench.rig().run(*words).must(64)
        expect(not result.out and f"see {' '.join(['capqueue', *words])} --help" in result.text,
               f"no hint: {result.text!r}")
        expect(bench.rig().run(*words, "--help").must(0).out, "--help prints nothing")

    every({" ".join(words) or "nothing": words for words in ([], ["dest"], ["session"])}, judge)


TESTS = [
    ("arguments that a preloaded library hides", hidden),
    ("no command: 64; help: 0", no_command),
]
