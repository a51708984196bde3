"""put to Apache mod_dav, a real WebDAV server."""
import contextlib
import os
import shutil
import subprocess

from Kit.outcomes import expect, long
from Kit.rigs import NOBODY
from Kit.sending import completed, wait_until
from Kit.servers.fault_proxy import Fault, FaultProxy
from Kit.servers.nginx import free_port
from Sending.answers.tries import added

MODULES = "/usr/lib/apache2/modules"
CONF = """
ServerRoot {place}
PidFile {place}/pid
ErrorLog {place}/error.log
ServerName localhost
{user}LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule dav_module {modules}/mod_dav.so
LoadModule dav_fs_module {modules}/mod_dav_fs.so
DavLockDB {place}/lock
DocumentRoot {place}/root
Listen 127.0.0.1:{port}
<Directory />
Require all granted
Dav On
</Directory>
"""


@contextlib.contextmanager
def apache(bench, port):
    """Apache in a folder of its own; yields the folder that it serves."""
    place = bench.folder / f"apache{next(bench.numbers)}"
    root = place / "root"
    root.mkdir(parents=True)
    is_root = os.geteuid() == 0
    for path in (place, root):
        path.chmod(0o777)
    for path in bench.folder, bench.folder.parent:
        path.chmod(path.stat().st_mode | 0o011)
    conf = place / "conf"
    conf.write_text(CONF.format(place=place, modules=MODULES, port=port, user=f"User #{NOBODY}\nGroup #{NOBODY}\n" if is_root else ""))
    with open(place / "said", "wb") as said:
        server = subprocess.Popen([shutil.which("apache2") or "/usr/sbin/apache2", "-X", "-f", conf], stdout=said, stderr=said)
    try:
        wait_until(lambda: (place / "pid").exists() or server.poll() is not None, "Apache to start")
        expect(server.poll() is None, f"Apache has ended: {(place / 'said').read_text()[-300:]!r}")
        yield root
    finally:
        server.terminate()
        server.wait()


@long
def missing_folder(bench):
    """409 to PUT and 404 to GET: the second time the destination is blocked, and the folder is named. Once it is made, all
    lands; Apache answers a good PUT with 201 and a page."""
    bundles = bench.stock[:2]
    port = free_port()
    with apache(bench, port) as root:
        url = f"http://127.0.0.1:{port}/captures"
        rig = added(bench, "put", f"{url}/{{sha256}}.bundle", bundles=bundles)
        for words in ("dest", "test", "it"), ("run", "--until-empty"):
            said = rig.run(*words).must(15, 78, about=" ".join(words)).text
            expect(f"{url}/ does not exist" in said, f"{words} says {said!r}")
        expect(rig.destination("it").blocked_reason == "endpoint", f"blocked as {rig.destination('it').blocked_reason}")
        expect(sum(row.attempts for row in rig.deliveries()) == 1, "more than one attempt was used")
        (root / "captures").mkdir()
        (root / "captures").chmod(0o777)
        rig.run("dest", "test", "it").must(0, about="dest test")
        rig.send("--until-empty", code=0)
        for bundle in bundles:
            expect((root / f"captures/{bundle.sha256}.bundle").read_bytes() == bundle.data, "it holds other bytes")


@long
def torn(bench):
    """A PUT that is torn on the way lands with the next try, at a fetched URL."""
    bundle = bench.stock[0]
    port = free_port()
    with apache(bench, port) as root, FaultProxy(port) as proxy:
        proxy.plan(Fault(cut_after=len(bundle.data) - 600))
        rig = added(bench, "put", None, "--url-command", f"echo {proxy.url}/$CAPQUEUE_ID")
        rig.send("--until-empty", code=0)
        completed(rig, bundle, attempts=2)
        expect((root / bundle.id).read_bytes() == bundle.data, "it holds other bytes")


TESTS = [
    ("Apache mod_dav without the folder", missing_folder),
    ("Apache mod_dav, a torn upload", torn),
]
