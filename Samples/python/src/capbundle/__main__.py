"""python -m capbundle verify FILE|- ... [--trust FILE] [--allow-withheld] [--require ROLES] [--state DIR] [--json]"""

import sys

from .command import USAGE
from .verify import main

PROGRAM = "python -m capbundle verify"

if __name__ == "__main__":
    if sys.argv[1:2] != ["verify"]:
        print(__doc__, file=sys.stderr)
        sys.exit(USAGE)
    sys.exit(main(sys.argv[2:], sys.stdin.buffer, sys.stdout, sys.stderr, PROGRAM))
