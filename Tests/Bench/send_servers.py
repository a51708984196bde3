"""Servers on loopback that receive bundles: nginx and SeaweedFS, each in its own process."""
import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

import bench

ECHO = pathlib.Path("/usr/lib/nginx/modules/ngx_http_echo_module.so")  # Debian's package libnginx-mod-http-echo
WEED = pathlib.Path(sys.executable).parent / "weed"
BUCKET, REGION, ACCESS, SECRET = "captures", "us-east-1", "bench", "only-for-the-bench"
PATIENCE = 60  # seconds to wait for a server's first answer

# One process, and no limit on the requests of a connection, since a run sends thousands of bundles over one. /dav/
# stores files; /api/ reads the whole body into a file, as for any backend, and answers as a capture server does.
NGINX = """
load_module {echo};
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error.log error;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_max_body_size 64m;
    client_body_in_file_only off;
    client_body_temp_path {folder}/bodies;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_requests 1000000;
    server {{
        listen 127.0.0.1:{port};
        location /dav/ {{
            root {folder};
            dav_methods PUT;
            create_full_put_path on;
        }}
        location = /api/v1/captures {{
            default_type application/json;
            echo_read_request_body;
            echo_status 202;
            echo '{{"data":{{"capture_id":"$request_id","status":"complete"}}}}';
        }}
    }}
}}
"""


def free_ports(count):
    """Returns ports on which no program listens at the moment."""
    with contextlib.ExitStack() as stack:
        return [stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(count)]


@contextlib.contextmanager
def running(rig, name, command, is_up, environment=None):
    """Runs a server during the `with` block; its output is in NAME.log of the rig's folder."""
    log = rig.folder / f"{name}.log"
    with open(log, "wb") as said:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                   env=rig.environment | (environment or {}), cwd=rig.folder)
    try:
        end = time.monotonic() + PATIENCE
        while not is_up():
            if process.poll() is not None or time.monotonic() > end:
                raise bench.Broken(f"{name} does not start: {log.read_text(errors='replace').strip()[-200:]}")
            time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def nginx(rig):
    """Yields (URL, folder) of an nginx that stores files below /dav/ in dav/ of the folder, and accepts captures."""
    program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if not program or not ECHO.exists():
        raise bench.Broken("nginx or its echo module is missing (Debian: nginx-light libnginx-mod-http-echo)")
    folder = rig.folder / "nginx"
    folder.mkdir()
    port, = free_ports(1)
    (folder / "nginx.conf").write_text(NGINX.format(echo=ECHO, folder=folder, port=port))
    url = f"http://127.0.0.1:{port}"
    command = [program, "-p", folder, "-e", folder / "error.log", "-c", folder / "nginx.conf"]
    try:
        with running(rig, "nginx-said", command, lambda: status(rig, f"{url}/dav/") != "000"):
            yield url, folder
    finally:
        rig.remove("nginx")


@contextlib.contextmanager
def seaweed(rig):
    """Yields (URL of a bucket in SeaweedFS, environment with its credentials)."""
    names = [f"{part}{kind}" for part in ("master.port", "volume.port", "filer.port", "s3.port", "admin.port")
             for kind in ("", ".grpc")]
    ports = dict(zip([*names, "s3.port.iceberg"], free_ports(len(names) + 1)))
    folder = rig.folder / "weed"
    folder.mkdir()
    url = f"http://127.0.0.1:{ports['s3.port']}/{BUCKET}"
    credentials = {"AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET}
    command = [WEED, "mini", "-dir", folder, "-ip", "127.0.0.1", "-ip.bind", "127.0.0.1", "-webdav=false",
               "-admin.ui=false", "-master.telemetry=false", "-s3.port.lance=0",
               *(f"-{name}={port}" for name, port in ports.items())]
    signed = ["--aws-sigv4", f"aws:amz:{REGION}:s3", "--user", f"{ACCESS}:{SECRET}"]
    try:
        with running(rig, "weed-said", command, lambda: status(rig, f"{url}?list-type=2", *signed) == "200",
                     credentials | {"S3_BUCKET": BUCKET}):
            yield url, credentials
    finally:
        rig.remove("weed")


def rclone(url):
    """Returns the environment that makes `seaweed:` a remote of rclone, without a configuration file."""
    settings = {"TYPE": "s3", "PROVIDER": "SeaweedFS", "ENDPOINT": url.rsplit("/", 1)[0], "REGION": REGION,
                "ACCESS_KEY_ID": ACCESS, "SECRET_ACCESS_KEY": SECRET, "FORCE_PATH_STYLE": "true"}
    return {"RCLONE_CONFIG": "/dev/null"} | {f"RCLONE_CONFIG_SEAWEED_{name}": value for name, value in settings.items()}


def status(rig, url, *options):
    """Returns the status of a server's answer, or 000 without an answer."""
    return subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", *options, url],
                          stdout=subprocess.PIPE, env=rig.environment, text=True).stdout
