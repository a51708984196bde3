"""Servers on loopback to which the judges send bodies: Werkzeug in a thread, nginx in its own process.

Each is ended by its own handle. The kernel chooses the ports.
"""
import contextlib
import hashlib
import json
import shutil
import socket
import subprocess
import threading
import time
import uuid

from werkzeug.formparser import FormDataParser
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from bench import Failed, Skipped


class Silent(WSGIRequestHandler):
    def log(self, *_):
        pass


class Delivery:
    """A request as a server received it, and the form that it parsed from the incoming bytes."""

    def __init__(self, request, tee):
        parser = FormDataParser(max_form_memory_size=1 << 20, max_form_parts=64, silent=False)
        _, form, files = parser.parse_from_environ(request.environ)
        self.method, self.headers = request.method, request.headers
        self.parts = {name: (None, None, value.encode()) for name, value in form.items(multi=True)}
        self.parts |= {name: (file.filename, file.headers["Content-Type"], file.read())
                       for name, file in files.items(multi=True)}
        self.count = len(list(form.items(multi=True))) + len(list(files.items(multi=True)))
        self.length, self.digest = tee.length, tee.hash.hexdigest()
        self.is_chunked = "Transfer-Encoding" in request.headers


class Tee:
    """The bytes of a request's body on their way to the parser, counted and hashed."""

    def __init__(self, stream):
        self.stream, self.length, self.hash = stream, 0, hashlib.sha256()

    def read(self, size=-1):
        data = self.stream.read(size)
        self.length += len(data)
        self.hash.update(data)
        return data


def accepted(capture_id=None, status=202):
    data = {"capture_id": str(capture_id or uuid.uuid4()), "status": "pending"}
    return Response(json.dumps({"data": data}), status, content_type="application/json")


def refused(status, code):
    return Response(json.dumps({"error": {"code": code}}), status, content_type="application/json")


class FormServer:
    """A WSGI application that parses forms and knows nothing about bundles; it records what it received."""

    def __init__(self):
        self.deliveries, self.failures = [], []

    def __call__(self, environ, start_response):
        environ["wsgi.input"] = tee = Tee(environ["wsgi.input"])
        try:
            self.deliveries.append(Delivery(Request(environ), tee))
        except Exception as error:  # the parser may raise anything; the judge reads the error here
            self.failures.append(repr(error))
            return refused(400, "form")(environ, start_response)
        return accepted()(environ, start_response)

    def take(self):
        """Returns the only request since the last call."""
        if self.failures or len(self.deliveries) != 1:
            raise Failed(f"{len(self.deliveries)} requests arrived; {self.failures[:1]}")
        return self.deliveries.pop()


class SpoolServer:
    """A WSGI application that writes the raw body to a file and answers with `judge(file)`."""

    def __init__(self, folder, judge):
        self.folder, self.judge = folder, judge

    def __call__(self, environ, start_response):
        spool = self.folder / f"{uuid.uuid4()}.body"
        with open(spool, "wb") as file:
            shutil.copyfileobj(Request(environ).stream, file)
        return self.judge(spool)(environ, start_response)


@contextlib.contextmanager
def served(application):
    """Runs a Werkzeug server and yields its URL."""
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=Silent)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


NGINX = """
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error.log warn;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_max_body_size 64m;
    client_body_temp_path {folder}/spool;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location /store/ {{
            root {folder};
            dav_methods PUT;
            create_full_put_path on;
        }}
        location /kept {{
            client_body_in_file_only on;
            proxy_set_header X-Body-File $request_body_file;
            proxy_pass {backend};
        }}
        location /buffered {{ proxy_pass {backend}; }}
        location /streamed {{
            proxy_http_version 1.1;
            proxy_request_buffering off;
            proxy_pass {backend};
        }}
    }}
}}
"""


@contextlib.contextmanager
def nginx(folder, backend):
    """Runs an nginx that stores files and passes requests on, and yields its URL; it writes only below `folder`."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if not program:
        raise Skipped("nginx is not installed (Debian: nginx-light)")
    for _ in range(5):  # another process may take a port that was free a moment ago
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        config = folder / "nginx.conf"
        config.write_text(NGINX.format(folder=folder, port=port, backend=backend))
        with open(folder / "said", "wb") as said:
            process = subprocess.Popen([program, "-p", folder, "-e", folder / "error.log", "-c", config],
                                       stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        try:
            if _answers(process, port):
                yield f"http://127.0.0.1:{port}"
                return
        finally:
            process.terminate()
            process.wait(10)
    raise Failed(f"nginx does not start: {(folder / 'error.log').read_text()[-300:]}")


def _answers(process, port):
    for _ in range(200):
        if process.poll() is not None:
            return False
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        time.sleep(0.02)
    return False
