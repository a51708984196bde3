"""capqueue sends to real servers over broken networks: SeaweedFS, nginx, and a strict capture API that parses with
Werkzeug and verifies with `cryptography`. The network is loopback, and a proxy damages it."""
import contextlib

from Kit.sending import SendingBench

PROGRAMS = ("capqueue", "capbundle")
LANES = 4


@contextlib.contextmanager
def bench(options, folder):
    yield SendingBench(options.capqueue, options.capbundle, folder, options.seed)
