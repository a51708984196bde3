"""Commands under faketime, after others that were killed."""
import subprocess

from Kit.clocks import SHARED, shifted
from Kit.outcomes import expect


def killed(_):
    """What a killed faketime leaves would end a later one that gets its process id, with 1 and before the tool starts."""
    command = subprocess.Popen([*shifted("+1d"), "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with command:
        command.stdin.write(b"x")
        command.stdin.flush()
        command.stdout.read(1)  # it runs
        command.kill()
    left = SHARED / f"sem.faketime_sem_{command.pid}"
    expect(left.exists(), "this faketime leaves nothing: Kit/clocks.py can be simpler")
    shifted("+1d")
    expect(not left.exists(), "it stays")


TESTS = [("a faketime that was killed does not end later ones", killed)]
