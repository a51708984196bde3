#!/usr/bin/env python3
"""Verifies capture bundles: the command `python -m capbundle verify` of Samples/python, without an installation.

verify.py FILE|- ... [--trust FILE] [--allow-withheld] [--require ROLES] [--state DIR] [--json]
"""

import sys

import bundle  # noqa: F401  (makes capbundle importable)
from capbundle.verify import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin.buffer, sys.stdout, sys.stderr))
