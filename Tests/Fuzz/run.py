#!/usr/bin/env python3
"""Builds the fuzz targets of Tests/Fuzz/Fuzz and runs each with libFuzzer and AddressSanitizer.

    run.py                    run each target for 60 seconds
    run.py --seconds 1200     run each for 20 minutes
    run.py --only WORD        run only the targets with this word in their name
    run.py --jobs 2           run two targets at a time
    run.py --build            only build the targets
    run.py FILE --only NAME   run one input, such as a finding

The seeds are made new each time. What libFuzzer adds to them stays in .build-fuzz/corpus, so that the next run goes on
from there. A finding is in .build-fuzz/findings. Its message says whether the program trapped, an expectation failed or
the input cost too much time or memory.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / ".build-fuzz"
LONGEST = 64 << 10
# libFuzzer's own limits: seconds for one input, and MiB of memory for the whole process.
TIMEOUT, MEMORY = 25, 4096


def build():
    """Builds the program and returns its path. Optimised code finds more in the same time."""
    # SwiftPM's own option --sanitize gives the compiler only one sanitizer.
    words = ["swift", "build", "-c", "release", "--package-path", ROOT, "--scratch-path", BUILD, "--product", "fuzz",
             "-Xswiftc", "-sanitize=fuzzer,address", "-Xswiftc", "-enable-testing", "-Xswiftc", "-use-ld=lld"]
    subprocess.run(words, check=True, env=os.environ | {"CAPBUNDLE_FUZZ": "1"})
    return BUILD / "release/fuzz"


def write_seeds(program):
    """Writes the seeds of all targets and returns the names of the targets."""
    seeds = BUILD / "seeds"
    shutil.rmtree(seeds, ignore_errors=True)
    # The program ends within a function, whose values then count as leaks.
    done = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True,
                          env=os.environ | {"CAPBUNDLE_FUZZ_SEEDS": str(seeds), "ASAN_OPTIONS": "detect_leaks=0"})
    return done.stdout.split()


def run(program, name, words):
    """Runs one target and returns its exit code and its output."""
    # Swift's own backtrace does not work with AddressSanitizer, and libFuzzer prints one.
    settings = {"CAPBUNDLE_FUZZ_TARGET": name, "SWIFT_BACKTRACE": "enable=no"}
    done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=os.environ | settings, cwd=BUILD)
    return done.returncode, done.stdout.decode(errors="replace")


def fuzz(program, name, seconds):
    """Runs one target. Prints a line with what it did, and returns whether it found nothing."""
    seeds, corpus, findings = (BUILD / part / name for part in ("seeds", "corpus", "findings"))
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    longest = max([LONGEST, *(seed.stat().st_size for seed in seeds.iterdir() if seed.stat().st_size <= 2 * LONGEST)])
    begin = time.monotonic()
    code, output = run(program, name, [
        f"-max_total_time={seconds}", f"-timeout={TIMEOUT}", f"-rss_limit_mb={MEMORY}", f"-max_len={longest}",
        "-print_final_stats=1", f"-artifact_prefix={findings}/", corpus, seeds])
    spent = time.monotonic() - begin
    inputs = re.findall(r"stat::number_of_executed_units: (\d+)", output)
    edges = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", output)
    covered, features, kept = edges[-1] if edges else ("?", "?", "?")
    print(f"{name:18} {spent:6.0f} s {inputs[-1] if inputs else '?':>10} inputs  {covered:>6} edges {features:>7} features "
          f"{kept:>6} in corpus  {'' if code == 0 else 'FOUND SOMETHING'}", flush=True)
    if code != 0:
        print("\n".join(output.splitlines()[-60:]), flush=True)
    return code == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", nargs="?", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--build", action="store_true")
    options = parser.parse_args()
    program = build()
    if options.build:
        return
    names = [name for name in write_seeds(program) if options.only in name]
    if not names:
        sys.exit(f"no target has the word {options.only} in its name")
    if options.file:
        if options.only not in names:
            sys.exit(f"--only with one of these names: {' '.join(names)}")
        code, output = run(program, options.only, [options.file.resolve()])
        print(output)
        sys.exit(code)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        sound = list(pool.map(lambda name: fuzz(program, name, options.seconds), names))
    failed = [name for name, is_sound in zip(names, sound) if not is_sound]
    if failed:
        sys.exit(f"fuzz: {len(failed)} of {len(names)} targets found something: {', '.join(failed)}; see {BUILD}/findings")
    print(f"fuzz: {len(names)} targets found nothing in {options.seconds} seconds each")


if __name__ == "__main__":
    main()
