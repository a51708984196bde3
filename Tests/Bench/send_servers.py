"""The servers on loopback that receive bundles, as the measures need them: nginx and SeaweedFS of Tests/Kit."""
import contextlib
import pathlib
import urllib.parse

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
    with web.running(folder, PLACES.format(folder=folder, port=port), port, f"load_module {ECHO};"):
        yield f"http://127.0.0.1:{port}", folder


def port_of(url):
    return urllib.parse.urlsplit(url).port


@contextlib.contextmanager
def seaweed(rig, exposed="127.0.0.1:{}".format):
    """Yields the URL of a bucket in SeaweedFS, which is also the remote `seaweed:` of rclone.

    `exposed` returns the host and port by which both reach a port of loopback.
    """
    store = Seaweed(rig.folder / "weed")
    secrets = store.keys.environment
    endpoint = f"http://{exposed(port_of(store.url))}"
    settings = {"TYPE": "s3", "PROVIDER": "SeaweedFS", "ENDPOINT": endpoint, "REGION": REGION,
                "ACCESS_KEY_ID": secrets["AWS_ACCESS_KEY_ID"], "FORCE_PATH_STYLE": "true",
                "SECRET_ACCESS_KEY": secrets["AWS_SECRET_ACCESS_KEY"]}
    before = dict(rig.env)
    rig.env |= secrets | {"RCLONE_CONFIG": "/dev/null"}
    rig.env |= {f"RCLONE_CONFIG_SEAWEED_{name}": value for name, value in settings.items()}
    try:
        yield f"{endpoint}/{BUCKET}"
    finally:
        rig.env = before
        store.stop()
