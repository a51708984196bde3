#!/usr/bin/env python3
"""Checks an upload to a RealityCam server by the rules 1 to 27, 34 and 35 of that server's contract.

usage: realitycam_check.py BODY --headers FILE... --key PEM [--rpid TEAM.BUNDLE] [--stored N] [--now MS] [--photo FILE]
       [--floats FILE] [--level LEVEL] [--device-id UUID] [--again BODY] [--get FILE]

--headers names files with lines `Name: value`: the Content-Type that `capbundle multipart --headers` writes, and what
`capbundle sign-request` prints. The rules are in realitycam/rules.py. Prints a line for each rule that is not met, and
for each warning. Exit: 0 all rules are met, 1 one is not, 64 wrong usage, 66 an input that cannot be read.
"""
import argparse
import hashlib
import pathlib
import sys

from cryptography.hazmat.primitives.serialization import load_pem_public_key

from realitycam.rules import check
from realitycam.upload import Upload

USUAL = "XXXXXXXXXX.com.realitycam.app"


class Arguments(argparse.ArgumentParser):
    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(64, f"realitycam_check.py: {message}\n")


def parsed(arguments):
    parser = Arguments("realitycam_check.py", description="Checks an upload to a RealityCam server.")
    parser.add_argument("body", type=pathlib.Path)
    parser.add_argument("--headers", type=pathlib.Path, action="append", required=True, metavar="FILE")
    parser.add_argument("--key", type=pathlib.Path, required=True, metavar="PEM")
    parser.add_argument("--rpid", default=USUAL)
    parser.add_argument("--stored", type=int, default=0, metavar="N", help="the counter that the server has")
    parser.add_argument("--now", type=int, metavar="MS", help="the time of the server")
    parser.add_argument("--level", default="secure_enclave")
    parser.add_argument("--device-id")
    for name, words in (("--photo", "as captured"), ("--floats", "as captured"), ("--again", "a second body"),
                        ("--get", "the headers of a GET")):
        parser.add_argument(name, type=pathlib.Path, metavar="FILE", help=words)
    return parser.parse_args(arguments)


def headers_of(paths):
    lines = [line for path in paths for line in path.read_text("latin-1").splitlines() if line]
    return dict(line.split(": ", 1) for line in lines)


def main(arguments):
    options = parsed(arguments)
    optional = {name: path.read_bytes() for name in ("photo", "floats", "again") if (path := getattr(options, name))}
    headers = headers_of(options.headers)
    upload = Upload(
        options.body.read_bytes(), headers.pop("Content-Type", ""), headers, load_pem_public_key(options.key.read_bytes()),
        options.rpid, options.stored, options.now, level=options.level, device_id=options.device_id,
        get=headers_of([options.get]) if options.get else None, **optional)
    results = check(upload)
    for number, (word, words) in results.items():
        if word != "ok":
            print(f"rule {number}: {word}: {words}")
    broken = sum(word == "broken" for word, _ in results.values())
    print(f"{options.body}: {len(results) - broken} of {len(results)} rules are met, "
          f"body {hashlib.sha256(upload.body).hexdigest()}")
    return 1 if broken else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (OSError, ValueError) as error:
        print(f"realitycam_check.py: {error}", file=sys.stderr)
        sys.exit(66)
