"""A proxy in front of a receiver that reads the first upload whole, and closes the connection without an answer."""
import contextlib
import http.client
import http.server
import threading

from outcomes import PATIENCE
from support import CAPTURES


@contextlib.contextmanager
def swallowing(receiver):
    """Gives the URL of the proxy."""
    uploads = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == CAPTURES:
                uploads.append(body)
                if len(uploads) == 1:
                    self.close_connection = True
                    return
            link = http.client.HTTPConnection("127.0.0.1", receiver.port, timeout=PATIENCE)
            with contextlib.closing(link):
                own = ("host", "connection", "expect", "content-length")
                link.request("POST", self.path, body, {k: v for k, v in self.headers.items() if k.lower() not in own})
                answer = link.getresponse()
                data = answer.read()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.headers["Content-Type"])
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
