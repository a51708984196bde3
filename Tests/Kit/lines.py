"""A slow line with a delay and losses, like that of netem, but without a module of the kernel. It needs root.

A program that is started by `Line.words` runs in a network namespace whose only way out is the line. The packets between it
and this machine pass through two TUN devices and a thread here, which delays and drops them. TCP is that of the kernel.
"""
import contextlib
import fcntl
import os
import random
import select
import socket
import struct
import subprocess
import threading
import time
import typing

from Kit.outcomes import Skipped

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000  # linux/if_tun.h
HERE, THERE = "198.18.17.1", "198.18.17.2"  # RFC 2544 keeps these addresses for measurements
QUEUE = 0.1  # seconds of data that wait at most before the line drops packets
PIECE = 1 << 16


class Line(typing.NamedTuple):
    words: list  # put before a command, they run it at the far end
    exposed: typing.Callable  # takes a port of loopback, and returns the host and port of the far end's way to it


@contextlib.contextmanager
def line(bits_per_second, one_way, loss):
    """Yields a Line. `one_way` are the seconds that a packet takes, `loss` is the share of packets that are lost."""
    if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
        raise Skipped("only root can make a network namespace, and /dev/net/tun is needed")
    name, over = f"line{os.getpid()}", threading.Event()
    with contextlib.ExitStack() as stack:
        ends = [_device(stack, f"{name}{side}") for side in "ab"]
        _ip("netns", "add", name)
        stack.callback(_ip, "netns", "del", name)
        _ip("link", "set", f"{name}b", "netns", name)
        for words, device, address in (((), f"{name}a", HERE), (("-n", name), f"{name}b", THERE)):
            _ip(*words, "addr", "add", f"{address}/30", "dev", device)
            _ip(*words, "link", "set", device, "up")
        # Not the default of this machine: other algorithms, such as bbr, hardly slow down after a loss.
        _ip("-n", name, "route", "replace", f"{HERE}/32", "dev", f"{name}b", "congctl", "cubic")
        forwarder = threading.Thread(target=_forward, args=(ends, bits_per_second, one_way, loss, over))
        forwarder.start()
        stack.callback(forwarder.join)
        stack.callback(over.set)
        yield Line(["ip", "netns", "exec", name], lambda port: stack.enter_context(_relay(port)))


def _ip(*words):
    subprocess.run(["ip", *words], check=True)


def _device(stack, name):
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    stack.callback(os.close, file)
    fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return file


def _forward(ends, bits_per_second, one_way, loss, over):
    """Carries packets from each end to the other, until `over` is set."""
    chance = random.Random(1)
    free, waiting = [0.0, 0.0], [[], []]  # of each end: when the line is free, and what comes out of it at which time
    while not over.is_set():
        due = min((packets[0][0] for packets in waiting if packets), default=float("inf"))
        ready, _, _ = select.select(ends, [], [], max(0, min(0.1, due - time.monotonic())))
        now = time.monotonic()
        for end in map(ends.index, ready):
            packet = os.read(ends[end], PIECE)
            begin = max(now, free[end])
            if begin - now <= QUEUE and chance.random() >= loss:
                free[end] = begin + len(packet) * 8 / bits_per_second
                waiting[end].append((free[end] + one_way, packet))
        for end, packets in enumerate(waiting):
            while packets and packets[0][0] <= now:
                os.write(ends[1 - end], packets.pop(0)[1])


@contextlib.contextmanager
def _relay(port):
    """Yields the host and port of a listener at our end of the line, which passes connections on to a port of loopback."""
    with socket.create_server((HERE, 0)) as listener:
        def accept():
            with contextlib.suppress(OSError):  # the listener is closed
                while True:
                    near, far = listener.accept()[0], socket.create_connection(("127.0.0.1", port))
                    for one, other in ((near, far), (far, near)):
                        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        threading.Thread(target=_pump, args=(one, other), daemon=True).start()
        thread = threading.Thread(target=accept)
        thread.start()
        yield "{}:{}".format(*listener.getsockname())
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def _pump(source, target):
    with contextlib.suppress(OSError):
        while piece := source.recv(PIECE):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
