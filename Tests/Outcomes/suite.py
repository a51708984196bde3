"""Code that the suites for capqueue share: their arguments, and the seed of all random choices."""
import argparse
import pathlib
import random
import signal


def arguments(description, **flags):
    """Parses the arguments of a suite; `flags` are its own, each with its help. Prints and returns the seed."""
    # A shell that starts this in the background makes it ignore the signal, and every tool would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("capqueue", type=pathlib.Path)
    parser.add_argument("capbundle", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="WORD", help="tests whose family or title has this word")
    parser.add_argument("--seed", type=int, metavar="N", help="repeats the choices of another run")
    parser.add_argument("--times", action="store_true", help="print how long each test took")
    for name, text in flags.items():
        parser.add_argument(f"--{name}", action="store_true", help=text)
    options = parser.parse_args()
    for name in ("capqueue", "capbundle"):
        binary = getattr(options, name)
        if not binary.is_file():
            parser.error(f"no such file: {binary}")
        setattr(options, name, binary.resolve())
    options.seed = random.randrange(1_000_000) if options.seed is None else options.seed
    print(f"seed {options.seed}", flush=True)
    return options
