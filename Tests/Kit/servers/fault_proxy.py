"""A TCP proxy between capqueue and any server. It simulates a bad network, with a separate fault for each connection.

    with FaultProxy(server.port) as proxy:
        proxy.plan(Fault(cut_after=5000), Fault(reply="lose"))
        rig.http(proxy.url)

The proxy cuts the first connection after 5000 bytes of the request, drops the reply of the second, and passes all
others on.
"""
import contextlib
import dataclasses
import socket
import struct
import threading
import time

CHUNK = 65536
RESET = struct.pack("ii", 1, 0)  # SO_LINGER 0: closing sends RST instead of FIN


@dataclasses.dataclass(frozen=True)
class Fault:
    """The fault of one connection; none by default.

    "Up" is from the client to the server, "down" is back. `reply` says what happens to the server's bytes: "pass",
    "lose" (the server has answered, and the client sees only the end), "twice", "garble", or bytes that replace them.
    """

    close: bool = False  # close right after accepting
    silent: bool = False  # accept, and never send anything back
    cut_after: int | None = None  # close after this many bytes up
    end_after: int | None = None  # tell the server after this many bytes up that the client has ended, and read on
    flip_at: int | None = None  # change one bit of this byte up
    stall_after: int | None = None  # pass nothing more up after this many bytes
    rate: int | None = None  # bytes per second up
    reply: str | bytes = "pass"
    reply_cut: int | None = None  # close after this many bytes down
    reply_rate: int | None = None  # bytes per second down
    reply_stall: int | None = None  # pass nothing more down after this many bytes, and keep the connection open
    reset: bool = False  # close with RST


NONE = Fault()


class Connection:
    """One connection through the proxy; `up` and `down` count the bytes that it has passed on."""

    def __init__(self, proxy, client, fault):
        self.proxy, self.client, self.fault = proxy, client, fault
        self.server, self.up, self.down, self.swallowed = None, 0, 0, 0
        self.is_open = True
        self._lock, self._closed = threading.Lock(), threading.Event()

    def serve(self):
        fault = self.fault
        if fault.close:
            return self.close()
        if fault.silent:
            return self.drain()
        try:
            self.server = socket.create_connection(("127.0.0.1", self.proxy.target), 10)
            self.server.settimeout(None)
        except OSError:
            return self.close()
        back = threading.Thread(target=self._guarded, args=(self._pass_down,), daemon=True)
        back.start()
        self._guarded(self._pass_up)
        back.join()
        return self.close()

    def drain(self):
        """Reads what arrives and sends nothing until the client goes away."""
        with contextlib.suppress(OSError):
            while data := self.client.recv(CHUNK):
                self.swallowed += len(data)
        self.close()

    def drain_up(self):
        """Reads what the client sends, and passes nothing on."""
        while data := self.client.recv(CHUNK):
            self.swallowed += len(data)

    def _guarded(self, direction):
        try:
            direction()
        except OSError:
            self.close()

    def _pass_up(self):
        fault = self.fault
        while data := self.client.recv(CHUNK):
            if fault.flip_at is not None and 0 <= (at := fault.flip_at - self.up) < len(data):
                data = data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
            if fault.end_after is not None and self.up + len(data) > fault.end_after:
                self._send(self.server, data[:fault.end_after - self.up], fault.rate, "up")
                self.server.shutdown(socket.SHUT_WR)
                return self.drain_up()
            limit = fault.cut_after if fault.stall_after is None else fault.stall_after
            part = data if limit is None else data[:max(0, limit - self.up)]
            self._send(self.server, part, fault.rate, "up")
            if limit is not None and self.up >= limit:
                if fault.stall_after is None:
                    return self.close()
                # Stop reading from the client, so that its buffers fill as on a dead line.
                self._closed.wait()
                return None
        self.server.shutdown(socket.SHUT_WR)
        return None

    def _pass_down(self):
        fault = self.fault
        while data := self.server.recv(CHUNK):
            if fault.reply == "pass" or data.startswith(b"HTTP/1.1 100 "):
                pass
            elif fault.reply == "lose":
                self.swallowed += len(data)
                return self.close()
            elif fault.reply == "twice":
                data += data
            elif fault.reply == "garble":
                data = bytes(byte ^ 0x15 for byte in data)
            else:
                self._send(self.client, fault.reply, None, "down")
                return self.close()
            limit = fault.reply_cut if fault.reply_stall is None else fault.reply_stall
            part = data if limit is None else data[:max(0, limit - self.down)]
            self._send(self.client, part, fault.reply_rate, "down")
            if limit is not None and self.down >= limit:
                if fault.reply_stall is None:
                    return self.close()
                self._closed.wait()
                return None
        self.client.shutdown(socket.SHUT_WR)
        return None

    def _send(self, peer, data, rate, counter):
        step = max(1, rate // 20) if rate else CHUNK
        for start in range(0, len(data), step):
            part = data[start:start + step]
            peer.sendall(part)
            setattr(self, counter, getattr(self, counter) + len(part))
            if rate and self._closed.wait(step / rate):
                return

    def close(self):
        """Closes both ends at once."""
        with self._lock:
            if not self.is_open:
                return
            self.is_open = False
        self._closed.set()
        for end in (self.client, self.server):
            if end is None:
                continue
            with contextlib.suppress(OSError):
                if self.fault.reset:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                # The other thread may be waiting in recv(). Without this call it would go on, and the kernel would keep
                # the socket open.
                end.shutdown(socket.SHUT_RD if self.fault.reset else socket.SHUT_RDWR)
            end.close()


class FaultProxy:
    """Listens on a free loopback port and passes connections on to another port."""

    def __init__(self, target):
        self.target, self.connections = target, []
        self._plan, self._otherwise, self._lock = [], NONE, threading.Lock()
        self._listener, self._thread, self.port = None, None, 0

    def __enter__(self):
        self.up()
        return self

    def __exit__(self, *_):
        self.down()
        self.cut()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def plan(self, *faults, otherwise=NONE):
        """Sets the faults of the next connections, one each, and the fault of all later connections."""
        with self._lock:
            self._plan, self._otherwise = list(faults), otherwise

    @property
    def open(self):
        """The number of connections that are open now."""
        return sum(connection.is_open for connection in self.connections)

    def cut(self):
        """Closes all connections, even those that stall."""
        for connection in list(self.connections):
            connection.close()

    def down(self):
        """Refuses new connections from now on; open ones stay open."""
        if self._listener:
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)  # wakes accept()
            self._listener.close()
            self._thread.join()
            self._listener = None

    def up(self):
        """Accepts connections (again) on the same port."""
        # An outgoing connection of this machine may have this port as its source port, so try for up to 10 s.
        for patience in range(100, -1, -1):
            try:
                listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
                break
            except OSError:
                if not patience:
                    raise
                time.sleep(0.1)
        # A small buffer, which each connection inherits, lets a client soon notice that nobody reads.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, CHUNK)
        self.port, self._listener = listener.getsockname()[1], listener
        self._thread = threading.Thread(target=self._accept, args=(listener,), daemon=True)
        self._thread.start()

    def _accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with self._lock:
                fault = self._plan.pop(0) if self._plan else self._otherwise
            connection = Connection(self, client, fault)
            self.connections.append(connection)
            threading.Thread(target=connection.serve, daemon=True).start()
