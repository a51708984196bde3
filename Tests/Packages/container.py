"""The steps of the Containerfiles, in Debian systems that debootstrap makes in place of their base images."""
import contextlib
import glob
import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

from Kit.outcomes import PATIENCE, ROOT, Failed, expect, long
from Packages.bench import BUILT, free_port, require_root
from Packages.machine import made

RECEIVER, TOOLS = ROOT / "Samples/Receiver/Containerfile", ROOT / "Samples/Containerfile"
USER = 4711  # a number that no user of the image has, as that of a user outside mostly is
# The options of the lines that the file of the tools shows; what follows them is a command in the container.
SHOWN = re.compile(r'^#   podman run --rm -v "\$PWD":/work -v capture:/var/lib/capture capture-tools (.*)$', re.M)


class Container:
    """What the steps of a Containerfile make. `begin` starts a command in it, with folders of this machine by their places."""

    def __init__(self, bench, file):
        self.place, self.user, self.folder, self.environment, self.entry = bench.folder / "container", "root", "/", [], []
        self.bench = bench
        text = "".join(line for line in file.open() if not line.startswith("#")).replace("\\\n", " ")
        for line in text.splitlines():
            if line.strip():
                self.step(*line.split(None, 1))

    def step(self, word, rest):
        if word == "FROM":
            suite = re.fullmatch(r"debian:(\w+)-slim", rest)[1]
            subprocess.run(["cp", "-a", "--reflink=auto", made(f"{suite}-slim"), self.place], check=True)
        elif word == "COPY":
            *patterns, target = rest.split()
            (self.place / target[1:]).mkdir()
            for file in (file for pattern in patterns for file in glob.glob(str(BUILT / pattern))):
                shutil.copy(file, self.place / target[1:])
        elif word == "RUN":
            self.bench.run(*self.words("/bin/sh", "-c", rest), seconds=600)
        elif word == "USER":
            self.user = rest
        elif word == "WORKDIR":
            self.folder = rest
            (self.place / rest[1:]).mkdir(exist_ok=True)
        elif word == "ENV":
            self.environment.append(f"--setenv={rest}")
        elif word == "ENTRYPOINT":
            self.entry = json.loads(rest)
        else:
            expect(word in ("VOLUME", "EXPOSE"), f"the step {word} is not known")

    def words(self, *words, binds=()):
        return ["systemd-nspawn", "--keep-unit", "--register=no", "--quiet", "--machine=container", "--resolv-conf=replace-host",
                "--console=pipe", f"--user={self.user}", f"--chdir={self.folder}", *self.environment,
                *(f"--bind={outside}:{inside}" for outside, inside in binds), "-D", self.place, *self.entry, *words]


@contextlib.contextmanager
def container(bench, file):
    require_root()
    made_here = Container(bench, file)
    try:
        yield made_here
    finally:
        shutil.rmtree(made_here.place)


def receives(bench):
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with container(bench, RECEIVER) as made_here, open(bench.folder / "container.log", "w+b") as log:
        words = made_here.words("--port", str(port), "--public-url", url)
        running = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            answers(url, running, log)
            owner = (made_here.place / "var/lib/capbundle-receiver/index.sqlite").stat().st_uid
            expect(owner != 0, "the receiver runs as root")
        finally:
            running.terminate()
            running.wait(60)


def answers(url, running, log):
    end = time.monotonic() + 60
    while running.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{url}/healthz", timeout=10) as answer:
                expect(answer.status == 200, f"/healthz says {answer.status}")
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.3)
    log.seek(0)
    raise Failed(f"the container does not answer: {log.read()[-400:].decode(errors='replace')}")


def works(user):
    """The commands that the file shows, on a folder outside, and a picture, for which a photo is decoded in its sandbox."""
    def test(bench):
        with container(bench, TOOLS) as made_here:
            work = bench.folder / f"work-{user}"
            volume = made_here.place / "var/lib/capture"
            shutil.copytree(ROOT / "Samples/desk-lamp/raw", work / "raw")
            (work / "disk").mkdir()
            subprocess.run(["chown", "-R", f"{user}:{user}", work], check=True)
            # nspawn knows users by name only.
            as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
            commands = [line.split() for line in SHOWN.findall(TOOLS.read_text())]
            expect(len(commands) == 5, f"the file shows {len(commands)} commands")
            for command in [*commands, "capbundle depth cap.bundle --beside --image picture.png".split()]:
                bench.run(*made_here.words(*as_user, *command, binds=[(work, "/work")]), seconds=PATIENCE)
            sent, = (work / "disk").glob("*.bundle")
            expect(sent.read_bytes() == (work / "cap.bundle").read_bytes(), "other bytes were sent")
            expect((work / "picture.png").read_bytes()[:4] == b"\x89PNG", "picture.png is no PNG file")
            owners = {path.stat().st_uid for path in [sent, work / "cap.bundle", *volume.glob(".local/share/*")]}
            expect(owners == {user}, f"files belong to {owners}")
    return long(test)


TESTS = [("the steps of the Containerfile lead to a receiver that answers, not as root", long(receives)),
         ("the image of the tools packs, queues and sends, as root", works(0)),
         ("the image of the tools packs, queues and sends, as the user of the folder", works(USER))]
