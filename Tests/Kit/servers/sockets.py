"""Servers on loopback that use sockets directly."""
import contextlib
import socket
import ssl
import threading


class SocketServer:
    """Runs `serve(client)` for each connection in its own thread; it may end with any error of the connection."""

    def __init__(self, context=None):
        self.connections, self.context = 0, context  # with a context of `ssl` it speaks TLS

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"{'https' if self.context else 'http'}://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._one, args=(client, self.connections), daemon=True).start()

    def _one(self, client, number):
        with client, contextlib.suppress(OSError):
            if not self.context:
                return self.serve(client, number)
            with client.dup() as plain:
                try:
                    with self.context.wrap_socket(client, server_side=True) as wrapped:
                        return self.serve(wrapped, number)
                except ssl.SSLError:
                    # Real servers read on after their alert. Otherwise a reset could take it away from the client.
                    plain.settimeout(10)
                    plain.shutdown(socket.SHUT_WR)
                    while plain.recv(65536):
                        pass

    def serve(self, client, number):
        """Handles one connection; `number` counts connections from 1."""
        raise NotImplementedError
