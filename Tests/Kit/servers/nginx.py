"""Debian's nginx as the web server of the tests: one process for each test, on free loopback ports.

    with Nginx(folder, tls={"good": authority.server()}) as server:
        rig.dest("web", "put", "--url", f"{server.url}/store/{{sha256}}")

Below `/store/` PUT stores a file and GET returns it; NGINX_PLACES says what the other paths do.
"""
import contextlib
import json
import pathlib
import shutil
import socket
import subprocess
import time

from Kit.outcomes import Failed, expect
from Kit.sending import wait_until

CODES = (301, 302, 303, 307, 308)
SECONDS = 20  # how long to wait for the first answer
LOG = {"method": "$request_method", "uri": "$request_uri", "status": "$status", "protocol": "$server_protocol",
       "port": "$server_port", "length": "$content_length", "authorization": "$http_authorization",
       "device": "$http_x_device_id", "host": "$http_host", "client": "$ssl_client_s_dn"}

# One process, which keeps the user that started it.
MAIN = """
{modules}
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error.log error;
events {{ worker_connections 512; }}
http {{
    client_body_temp_path {folder}/temporary;
    proxy_temp_path {folder}/temporary-proxy;
    fastcgi_temp_path {folder}/temporary-fastcgi;
    uwsgi_temp_path {folder}/temporary-uwsgi;
    scgi_temp_path {folder}/temporary-scgi;
    {http}
}}
"""

STORE = """
    log_format lines escape=json '{log}';
    access_log {folder}/access.log lines;
    client_max_body_size 64m;
    absolute_redirect off;
    root {folder}/root;
    dav_methods PUT;
    create_full_put_path on;
    {servers}
"""

# A proxy for http only.
FORWARD = """
    server {{
        listen 127.0.0.1:{proxy};
        location / {{ proxy_pass http://$http_host$request_uri; proxy_request_buffering off; proxy_http_version 1.1; }}
    }}
"""

# nginx tries regular expressions first, so /store/ does not hide a location that has one.
NGINX_PLACES = """
        location /store/ { default_type application/json; }
        location /small/ { client_max_body_size 100k; }
        location /slow/ { client_body_timeout 1s; }
        location ~ ^/loop/(\\d+)/ { return 307 $request_uri; }
        location ~ ^/chain/1/(?<rest>.*)$ { return 307 /$rest; }
        location ~ ^/chain/2/(?<rest>.*)$ { return 307 /chain/1/$rest; }
        location ~ ^/chain/3/(?<rest>.*)$ { return 308 /chain/2/$rest; }
        location ~ ^/chain/4/(?<rest>.*)$ { return 307 /chain/3/$rest; }
        location ~ ^/chain/5/(?<rest>.*)$ { return 308 /chain/4/$rest; }
        location ~ ^/chain/6/(?<rest>.*)$ { return 307 /chain/5/$rest; }
"""


def redirects(ports):
    """Returns locations named by target and code: /other/307/store/x answers 307 to /store/x at the other port."""
    targets = {"same": "", "whole": "$scheme://$http_host", "other": f"http://127.0.0.1:{ports['other']}",
               "name": "$scheme://localhost:$server_port", "plain": f"http://127.0.0.1:{ports['plain']}"}
    targets |= {f"to-{name}": f"https://127.0.0.1:{port}" for name, port in ports["tls"].items()}
    return "".join(f"        location ~ ^/{place}/{code}/(?<rest>.*)$ {{ return {code} {target}/$rest; }}\n"
                   for place, target in targets.items() for code in CODES)


def fresh(bench, **options):
    """Returns an nginx with its own folder."""
    return Nginx(bench.folder / f"nginx{next(bench.numbers)}", **options)


def free_port(address="127.0.0.1"):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, 0), family=family) as probe:
        return probe.getsockname()[1]


NOBODY = []


def port_of_nobody():
    """A port at which connections are refused as long as this process runs: it is bound, and nobody listens there."""
    NOBODY.append(socket.socket())
    NOBODY[-1].bind(("127.0.0.1", 0))
    return NOBODY[-1].getsockname()[1]


def has_ipv6():
    try:
        return bool(free_port("::1"))
    except OSError:
        return False


def started(folder, http, port, modules=""):
    """Starts nginx with this content of its `http` block. Returns its process when it answers at the port of loopback, or
    None if it does not."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if not program:
        raise Failed("nginx is not installed (Debian: nginx-light)")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nginx.conf").write_text(MAIN.format(folder=folder, http=http, modules=modules))
    with open(folder / "said", "wb") as said:
        process = subprocess.Popen([program, "-p", folder, "-e", folder / "error.log", "-c", folder / "nginx.conf"],
                                   stdin=subprocess.DEVNULL, stdout=said, stderr=said)
    end = time.monotonic() + SECONDS
    while process.poll() is None and time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return process
        time.sleep(0.02)
    process.kill()
    process.wait()
    return None


@contextlib.contextmanager
def running(folder, http, port, modules=""):
    """Runs nginx with this content of its `http` block."""
    process = started(folder, http, port, modules)
    if not process:
        raise Failed(f"nginx does not start: {(folder / 'error.log').read_text()[-300:]}")
    try:
        yield process
    finally:
        process.kill()
        process.wait()


class Nginx:
    """A running nginx that stores files.

    `tls` maps names to pairs of certificate and key, each with its own port. `clients` is the authority of the clients
    that may use the port named "clients". `backend` is the URL of the server for /api/.
    """

    def __init__(self, folder, tls=None, clients=None, backend=None):
        self.folder, self.certificates = pathlib.Path(folder), tls or {}
        self.clients, self.backend = clients, backend
        self.process, self.ports = None, {}

    def __enter__(self):
        (self.folder / "root/store").mkdir(parents=True, exist_ok=True)
        for _ in range(5):  # another process may take a port that was free a moment ago
            if self._start():
                return self
            self.__exit__()
        raise Failed(f"nginx does not start: {(self.folder / 'error.log').read_text()[-300:]}")

    def __exit__(self, *_):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.ports['plain']}"

    @property
    def other(self):
        """The URL of the same files at another origin."""
        return f"http://127.0.0.1:{self.ports['other']}"

    def template(self, place="store"):
        """Returns the value of `--url` for one of the server's locations."""
        return f"{self.url}/{place}/{{sha256}}.bundle"

    def keeps(self, *bundles, place="store", about="the server"):
        """Checks that the server has exactly these bundles, byte for byte."""
        names = sorted(f"{place}/{bundle.sha256}.bundle" for bundle in bundles)
        expect(self.holds() == names, f"{about} holds {len(self.holds())} files, not {len(names)}: {self.holds()[:4]}")
        for bundle in bundles:
            data = self.path(f"{place}/{bundle.sha256}.bundle").read_bytes()
            expect(data == bundle.data, f"{about} holds other bytes as {bundle.sha256[:8]}")

    @property
    def proxy(self):
        return f"http://127.0.0.1:{self.ports['proxy']}"

    def secure(self, name):
        """Returns the URL of the same files behind TLS, with the certificate of that name."""
        return f"https://127.0.0.1:{self.ports['tls'][name]}"

    def path(self, name):
        """Returns where the server stores the file that was put to /`name`."""
        return self.folder / "root" / name

    def holds(self):
        """Returns the names of all whole files, relative to the root."""
        return sorted(str(path.relative_to(self.folder / "root")) for path in (self.folder / "root").rglob("*")
                      if path.is_file())

    def log(self, **members):
        """Returns the log of all finished requests with these members."""
        path = self.folder / "access.log"
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        seen = [json.loads(line) for line in lines]
        return [one for one in seen if all(one[name] == str(value) for name, value in members.items())]

    def logged(self, count, **members):
        """Waits until `log` has `count` requests, because nginx writes the line after it has sent the answer."""
        wait_until(lambda: len(self.log(**members)) >= count, f"{count} requests with {members} in nginx's log")
        return self.log(**members)

    def _start(self):
        self.ports = {name: free_port() for name in ("plain", "other", "proxy")}
        self.ports["tls"] = {name: free_port() for name in self.certificates}
        self.process = started(self.folder, self._configuration(), self.ports["plain"])
        return self.process is not None

    def _configuration(self):
        places = NGINX_PLACES + redirects(self.ports)
        if self.backend:
            places += (f"        location /api/ {{ proxy_pass {self.backend}; proxy_http_version 1.1; "
                       "proxy_set_header Host $http_host; }\n")
        ports = self.ports
        listening = [f"listen 127.0.0.1:{ports['plain']}; listen 127.0.0.1:{ports['other']};"]
        if has_ipv6():
            listening[0] += f" listen [::1]:{ports['plain']};"
        for name, (certificate, key) in self.certificates.items():
            listening.append(f"listen 127.0.0.1:{ports['tls'][name]} ssl http2; "
                             f"ssl_certificate {certificate}; ssl_certificate_key {key};")
            if self.clients and name == "clients":
                listening[-1] += f" ssl_client_certificate {self.clients}; ssl_verify_client on;"
        servers = "\n".join(f"    server {{\n        {listen}\n{places}    }}" for listen in listening)
        servers = FORWARD.format(**ports) + servers
        log = "{" + ",".join(f'"{name}":"{value}"' for name, value in LOG.items()) + "}"
        return STORE.format(folder=self.folder, log=log, servers=servers)
