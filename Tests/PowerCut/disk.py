"""A disk of a guest: NBD (https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md) over a Unix socket.

Like a real disk it works on several requests at once, answers writes late and out of order, and a flush covers only what
it had answered before. FUA is not offered, so that the guest sends a flush instead.
"""
import heapq
import itertools
import random
import select
import socket
import struct
import threading
import time

from PowerCut.blocks import Blocks, Flush, Log, Write

READ, WRITE, LEAVE, FLUSH = range(4)
GREETING = b"NBDMAGICIHAVEOPT" + struct.pack(">H", 3)  # fixed newstyle, no zeroes
OPTION_ANSWER, REQUEST_ANSWER = 0x3E889045565A9, 0x67446698
GO, INFO, ACKNOWLEDGED, UNSUPPORTED = 7, 3, 1, 0x80000001
HAS_FLAGS, KNOWS_FLUSH = 1, 4
LATEST = 0.002  # seconds until a write is answered, at most


class Disk:
    """`content` and `log` may be replaced while no guest uses the disk."""

    def __init__(self, path, number, size, seed=0):
        self.path, self.number, self.size = path, number, size
        self.content, self.log = Blocks(size), Log()
        self._random, self._ties = random.Random(seed), itertools.count()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(1)
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self):
        while True:
            try:
                guest, _ = self._listener.accept()
            except OSError:  # closed
                return
            with guest:
                try:
                    if self._greet(guest):
                        self._work(guest)
                except OSError:  # the guest is gone
                    pass

    def _greet(self, guest):
        guest.sendall(GREETING)
        take(guest, 4)
        while True:
            _, option, length = struct.unpack(">8sII", take(guest, 16))
            take(guest, length)

            def answer(kind, data=b"", option=option):
                guest.sendall(struct.pack(">QIII", OPTION_ANSWER, option, kind, len(data)) + data)
            if option == GO:
                answer(INFO, struct.pack(">HQH", 0, self.size, HAS_FLAGS | KNOWS_FLUSH))
                answer(INFO, struct.pack(">HIII", 3, 512, 4096, 1 << 25))
                answer(ACKNOWLEDGED)
                return True
            answer(UNSUPPORTED)

    def _work(self, guest):
        """Takes requests as they come, and answers each when its time has come."""
        due = []  # a heap of (time, tie, function that answers)
        while True:
            wait = max(0, due[0][0] - time.monotonic()) if due else None
            if select.select([guest], [], [], wait)[0]:
                delay, answer = self._take(guest)
                if answer is None:
                    return
                heapq.heappush(due, (time.monotonic() + delay, next(self._ties), answer))
            while due and due[0][0] <= time.monotonic():
                heapq.heappop(due)[2]()

    def _take(self, guest):
        """Reads a request; returns how long its answer takes, and the function that answers."""
        _, _, kind, handle, offset, length = struct.unpack(">IHH8sQI", take(guest, 28))
        head = struct.pack(">II8s", REQUEST_ANSWER, 0, handle)
        if kind == READ:
            return 0, lambda: guest.sendall(head + self.content.read(offset, length))
        if kind == WRITE:
            data = take(guest, length)
            self.content.write(offset, data)
            written = self.log.add(Write(self.number, offset, data))
            return self._random.uniform(0, LATEST), self._answering(written, guest, head)
        if kind == FLUSH:
            return 0, self._answering(self.log.add(Flush(self.number)), guest, head)
        if kind == LEAVE:
            return 0, None
        raise OSError(f"a request of kind {kind}, which the disk does not offer")

    def _answering(self, entry, guest, head):
        log = self.log

        def answer():
            entry.answered = len(log)
            guest.sendall(head)
        return answer


def take(sender, count):
    """Reads exactly `count` bytes."""
    found = bytearray()
    while len(found) < count:
        piece = sender.recv(min(count - len(found), 1 << 20))
        if not piece:
            raise OSError("the guest is gone")
        found += piece
    return bytes(found)
