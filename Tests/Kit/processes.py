"""Ends processes with all that they started, also in other sessions, which signals to a process group do not reach."""
import os
import pathlib
import signal
import subprocess

GRACE = 10  # seconds to clean up after SIGTERM


def descendants(pid):
    """Returns the numbers of the processes that a process has started, and that those have started, and so on."""
    found, new = [], [pid]
    while new:
        try:
            children = [int(child) for task in pathlib.Path(f"/proc/{new[0]}/task").glob("*/children")
                        for child in task.read_text().split()]
        except OSError:  # it has ended meanwhile
            children = []
        new = new[1:] + children
        found += children
    return found


def began(pid):
    """Returns when a process began, or None if it has ended. A number with another beginning is another process."""
    try:
        facts = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if facts[0] == "Z" else int(facts[19])


def kill(pids, send=os.kill):
    for pid in pids:
        try:
            send(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def end(leader):
    """Asks the leader of a session to end, waits, kills it and all that it started, and returns its exit code."""
    started = {pid: began(pid) for pid in descendants(leader.pid)}
    leader.terminate()
    try:
        leader.wait(GRACE)
    except subprocess.TimeoutExpired:
        started |= {pid: began(pid) for pid in descendants(leader.pid)}
        leader.kill()
    kill(pid for pid, time in started.items() if time and began(pid) == time)
    kill([leader.pid], os.killpg)
    return leader.wait()
