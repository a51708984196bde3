"""What servers answer, what stands between, and what is wrong with the settings, keys and folders of a destination."""
import contextlib
import fcntl
import json
import os

from Alarms.in_the_queue import Nowhere
from Alarms.lines import Causes
from Kit.disks import READ_ONLY, mounted, small
from Kit.sending import AT_ONCE
from Kit.servers.capture_api import CaptureAPI
from Kit.servers.scripted import Reply, Scripted
from Kit.servers.sockets import SocketServer
from Kit.servers.tls_servers import Trust
from Sending.answers.tries import token_file
from Sending.kind_http.realitycam import Rig as RealityCam

line = Causes()


@contextlib.contextmanager
def answering(scene, reply, *options, count=1, push=()):
    """Captures that wait for a `put` destination, whose server answers each request with `reply`."""
    with Scripted(reply if callable(reply) else lambda request: reply) as server:
        scene.put(server, *options)
        scene.push(count, *push)
        yield server


def answers(title, reply, *options, count=1, push=(), words=(), quick=False):
    """The line of a server that gives one answer."""
    def cause(scene):
        with answering(scene, reply, *options, count=count, push=push):
            scene.judge(*words)
    line(title, quick)(cause)


# What only a person can end.

answers("the server refuses the token (401)", Reply(401), quick=True)
answers("the server refuses access (403)", Reply(403))
answers("the URL is wrong (404)", Reply(404))
answers("the server sends it elsewhere (302)", Reply(302, {"Location": "/login"}))
answers("the server refuses each of five captures (413)", Reply(413), count=5, words=("--until-empty",))


@line("the server takes captures, and lets nobody read what it has")
def unproven(scene):
    with Scripted(lambda request: Reply(201 if request.method == "PUT" else 403)) as server:
        scene.rig.dest("a", "put", "--url-command", f"echo {server.url}/x")
        scene.push()
        scene.judge()


@line("the server's certificate is not trusted")
def untrusted(scene):
    with Trust(scene.bench).server(scene.bench) as server:
        scene.rig.dest("a", "put", "--url", f"https://127.0.0.1:{server.ports['tls']['good']}/{{sha256}}")
        scene.push()
        scene.judge()


@line("the proxy refuses the password (407)")
def proxy_refuses(scene):
    with Scripted(lambda request: Reply(407)) as proxy:
        scene.put(Nowhere(), "--proxy", proxy.url)
        scene.push()
        scene.judge()


@line("its settings cannot be used")
def unusable(scene):
    scene.put(Nowhere())
    scene.push()
    scene.rig.change("UPDATE destinations SET settings = ?", json.dumps({"url": "http://127.0.0.1:9/{sha256}#x"}))
    scene.judge()


@line("several captures have one URL")
def one_place(scene):
    with Scripted(lambda request: Reply(201)) as server:
        scene.rig.dest("a", "put", "--url-command", f"echo {server.url}/x", "--proof", "status")
        scene.push(2)
        scene.judge("--until-empty")


def keyless(title, break_key):
    def cause(scene):
        with CaptureAPI(scene.bench.public) as api:
            scene.rig.http(api.url, name="a")
            scene.push()
            break_key(scene.rig)
            scene.judge()
    line(title)(cause)


keyless("the key is missing", lambda rig: os.rename(rig.key, f"{rig.key}.away"))
keyless("others can read the key", lambda rig: os.chmod(rig.key, 0o644))


@line("the token file is missing")
def without_token(scene):
    option, file = token_file(scene.bench, "a")
    scene.put(Nowhere(), option, file)
    scene.push()
    file.unlink()
    scene.judge()


@line("the token command fails")
def token_command(scene):
    scene.put(Nowhere(), "--token-command", "false")
    scene.push()
    scene.judge()


@line("the token command hangs")
def token_hangs(scene):
    with Scripted(lambda request: Reply(201)) as server:
        scene.put(server, "--token-command", "sleep 99")
        scene.push()
        scene.judge()


@line("the file of `--ca` is missing")
def no_authority(scene):
    trust = Trust(scene.bench)
    with trust.server(scene.bench) as server:
        scene.rig.dest("a", "put", "--url", f"https://127.0.0.1:{server.ports['tls']['good']}/{{sha256}}", *trust.options)
        scene.push()
        trust.authority.path.unlink()
        scene.judge()


@line("there are no credentials for S3")
def no_credentials(scene):
    scene.rig.env |= {"AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S"}
    scene.run("dest", "add", "a", "--kind", "s3", "--url", Nowhere.url + "/bucket").must(0, about="dest add")
    del scene.rig.env["AWS_ACCESS_KEY_ID"], scene.rig.env["AWS_SECRET_ACCESS_KEY"]
    scene.push()
    scene.judge()


@line("the URL command fails")
def url_command(scene):
    scene.rig.dest("a", "put", "--url-command", "false")
    scene.push()
    scene.judge()


@line("the URL command fails for this capture, while others land")
def url_command_for_one(scene):
    bad = scene.bench.stock[0]
    with Scripted(lambda request: Reply(201)) as server:
        command = f"test $CAPQUEUE_SHA256 != {bad.sha256} && echo {server.url}/$CAPQUEUE_SHA256"
        scene.rig.dest("a", "put", "--url-command", command, "--proof", "status", "--retry", AT_ONCE)
        scene.push(4)
        scene.judge("--until-empty")


@line("the folder of the destination is read-only")
def read_only_folder(scene):
    folder = scene.folder()
    scene.push()
    with mounted(scene.rig, folder, READ_ONLY) as scene.place:
        scene.judge()


@line("the user may not write the folder of the destination")
def foreign_folder(scene):
    folder = scene.folder()
    scene.push()
    folder.chmod(0o555)
    # Root could write it nevertheless.
    scene.judge(sends=lambda: scene.run("run", prefix=("setpriv", "--bounding-set=-dac_override")).must(15, about="run"))


# What ends by itself.

answers("the server asks to wait (503 with Retry-After)", Reply(503, {"Retry-After": "86400"}))
answers("the server has no room (507)", Reply(507))
answers("each upload ends in an error page (502)", Reply(502, {"Content-Type": "text/html"}, b"<html>"))


@line("nobody listens at the server's port", quick=True)
def offline(scene):
    scene.put(Nowhere())
    scene.push()
    scene.judge()


@line("the name of the server is unknown")
def unknown_name(scene):
    scene.rig.env["RES_OPTIONS"] = "timeout:1 attempts:1"
    scene.rig.dest("a", "put", "--url", "http://captures.invalid:8080/{sha256}")
    scene.push()
    scene.judge()


@line("the disk of a `folder` destination is not mounted")
def folder_away(scene):
    scene.folder().rename(scene.rig.out / "away")
    scene.push()
    scene.judge()


@line("the disk of a `folder` destination is full")
def full_folder(scene):
    folder = scene.rig.out / "a"
    with mounted(scene.rig, folder, small("100k")) as scene.place:
        scene.run("dest", "add", "a", "--kind", "folder", "--path", folder).must(0, about="dest add")
        scene.place.shell('head -c 9999999 /dev/zero > "$0/filler"')
        scene.push()
        scene.judge()


@line("the proxy is away")
def no_proxy(scene):
    scene.put(Nowhere(), "--proxy", Nowhere.url)
    scene.push()
    scene.judge()


@line("the URL endpoint is away")
def no_endpoint(scene):
    scene.run("dest", "add", "a", "--kind", "put", "--url-endpoint", Nowhere.url).must(0, about="dest add")
    scene.push()
    scene.judge()


@line("the server has it, and never decides")
def undecided(scene):
    with CaptureAPI(scene.bench.public) as api:
        api.verdicts = ["processing"]
        scene.rig.http(api.url, name="a")
        scene.push()
        scene.judge()


@line("another program keeps the turn of a RealityCam key")
def no_turn(scene):
    with RealityCam(scene.bench) as (rig, _):
        scene.rig = rig
        scene.push()
        with open(rig.folder / "keys/realitycam.key.sending", "wb") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            scene.judge("--max-duration", "1s", "--grace", "0s")


@line("the line is so slow that no transfer ends")
def slow(scene):
    with Scripted(lambda request: Reply(201)) as server:
        scene.put(server, "--bwlimit", "1")
        scene.push()
        scene.judge("--max-duration", "1s", "--grace", "0s")


# What is over after some tries.

answers("the server refuses the capture itself (413)", Reply(413))
answers("each try fails until the table of delays is over (500)", Reply(500, body=b"{}"), "--retry", AT_ONCE,
        words=("--until-empty",))
answers("its `--lifetime` is over", Reply(500), "--lifetime", "1s", "--retry", "0,2", words=("--until-empty",))


@line("the server keeps half of it, and says that it has it")
def half(scene):
    reply = {"HEAD": Reply(200, {"Content-Length": "100"}), "PUT": Reply(201)}
    with answering(scene, lambda request: reply[request.method], "--retry", AT_ONCE):
        scene.judge("--until-empty")


@line("each connection is closed before an answer comes")
def closed(scene):
    with answering(scene, Reply(lost=True)):
        scene.judge()


@line("the server never answers")
def silent(scene):
    with Silent() as server:
        scene.put(server, "--answer-timeout", "1s", "--retry", "0,0")
        scene.push()
        scene.judge("--until-empty")


class Silent(SocketServer):
    """Reads, and says nothing."""

    def serve(self, client, number):
        while client.recv(65536):
            pass


@line("a RealityCam server can never take it, since it has no depth map")
def unfit(scene):
    bundle = scene.bench.packed(f"flat{next(scene.bench.numbers)}", options=("--no-depth",))
    with RealityCam(scene.bench) as (rig, _):
        scene.rig = rig
        scene.run("push", bundle.path).must(0, about="push")
        scene.judge()


@line("the server has other bytes under its name")
def conflict(scene):
    folder = scene.folder()
    bundle, = scene.push()
    (folder / f"{bundle.id}.bundle").write_bytes(scene.bench.stock[1].data)
    scene.judge()


@line("the server takes it, and rejects it later")
def rejected(scene):
    with CaptureAPI(scene.bench.public) as api:
        api.verdicts = ["processing", "failed"]
        scene.rig.http(api.url, name="a")
        scene.push()
        scene.judge("--until-empty")


TESTS = line.tests
