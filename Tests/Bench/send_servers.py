"""Servers on loopback that receive bundles, as the measures need them: nginx and SeaweedFS of Tests/Kit."""
import contextlib
import pathlib

from Kit.outcomes import Failed
from Kit.servers import nginx as web
from Kit.servers.seaweed import BUCKET, Seaweed
from Kit.servers.sigv4 import REGION

ECHO = pathlib.Path("/usr/lib/nginx/modules/ngx_http_echo_module.so")  # Debian's package libnginx-mod-http-echo

# No limit on the requests of a connection, since a run sends thousands of bundles over one. /dav/ stores files; /api/
# reads the whole body into a file, as for any backend, and answers as a capture server does.
PLACES = """
    access_log off;
    client_max_body_size 64m;
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
"""


@contextlib.contextmanager
def nginx(rig):
    """Yields (URL, folder) of an nginx that stores files below /dav/ in dav/ of the folder, and accepts captures."""
    if not ECHO.exists():
        raise Failed("nginx has no echo module here (Debian: libnginx-mod-http-echo)")
    folder, port = rig.folder / "nginx", web.free_port()
    try:
        with web.running(folder, PLACES.format(folder=folder, port=port), port, f"load_module {ECHO};"):
            yield f"http://127.0.0.1:{port}", folder
    finally:
        rig.remove("nginx")


@contextlib.contextmanager
def seaweed(rig):
    """Yields (URL of a bucket in SeaweedFS, environment with its credentials)."""
    store = Seaweed(rig.folder / "weed")
    try:
        yield store.url, store.keys.environment
    finally:
        store.stop()
        rig.remove("weed")


def rclone(url, credentials):
    """Returns the environment that makes `seaweed:` a remote of rclone, without a configuration file."""
    settings = {"TYPE": "s3", "PROVIDER": "SeaweedFS", "ENDPOINT": url.removesuffix(f"/{BUCKET}"), "REGION": REGION,
                "ACCESS_KEY_ID": credentials["AWS_ACCESS_KEY_ID"], "FORCE_PATH_STYLE": "true",
                "SECRET_ACCESS_KEY": credentials["AWS_SECRET_ACCESS_KEY"]}
    return {"RCLONE_CONFIG": "/dev/null"} | {f"RCLONE_CONFIG_SEAWEED_{name}": value for name, value in settings.items()}
