"""The steps of Samples/Receiver/Containerfile, in a Debian system that debootstrap makes in place of its base image."""
import glob
import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

from Kit.outcomes import ROOT, Failed, expect, long
from Packages.bench import BUILT, free_port, require_root
from Packages.machine import made

FILE = ROOT / "Samples/Receiver/Containerfile"
KNOWN = {"FROM", "COPY", "RUN", "USER", "VOLUME", "EXPOSE", "ENTRYPOINT"}


def steps():
    text = re.sub(r"\\\n", " ", "".join(line for line in FILE.open() if not line.startswith("#")))
    found = [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]
    expect({word for word, _ in found} == KNOWN, f"the steps are {[word for word, _ in found]}")
    return found


def starts(bench):
    require_root()
    place, user, entry = bench.folder / "container", "root", []

    def inside(*words, user="root", **how):
        return ["systemd-nspawn", "--keep-unit", "--register=no", "--quiet", "--machine=container", "--resolv-conf=replace-host",
                "--console=pipe", f"--user={user}", "-D", place, *words]

    for word, rest in steps():
        if word == "FROM":
            suite = re.fullmatch(r"debian:(\w+)-slim", rest)[1]
            subprocess.run(["cp", "-a", "--reflink=auto", made(f"{suite}-slim"), place], check=True)
        elif word == "COPY":
            *patterns, target = rest.split()
            (place / target[1:]).mkdir()
            for file in (file for pattern in patterns for file in glob.glob(str(BUILT / pattern))):
                shutil.copy(file, place / target[1:])
        elif word == "RUN":
            bench.run(*inside("/bin/sh", "-c", rest), seconds=600)
        elif word == "USER":
            user = rest
        elif word == "ENTRYPOINT":
            entry = json.loads(rest)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with open(bench.folder / "container.log", "w+b") as log:
        container = subprocess.Popen(inside(*entry, "--port", str(port), "--public-url", url, user=user), stdin=subprocess.DEVNULL,
                                     stdout=log, stderr=log)
        try:
            answers(url, container, log)
            owner = (place / "var/lib/capbundle-receiver/index.sqlite").stat().st_uid
            expect(owner != 0, "the receiver runs as root")
        finally:
            container.terminate()
            container.wait(60)
    shutil.rmtree(place)


def answers(url, container, log):
    end = time.monotonic() + 60
    while container.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{url}/healthz", timeout=10) as answer:
                expect(answer.status == 200, f"/healthz says {answer.status}")
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.3)
    log.seek(0)
    raise Failed(f"the container does not answer: {log.read()[-400:].decode(errors='replace')}")


TESTS = [("the steps of the Containerfile lead to a receiver that answers, not as root", long(starts))]
