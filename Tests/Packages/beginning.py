"""The lines with which Samples/operations.md begins, pasted by a new user into a booted system: from the packages to a capture
in an S3 store and a page about it."""
import hashlib
import re
import shutil

from Kit.outcomes import ROOT, expect, long
from Kit.servers import seaweed
from Packages.bench import require_root
from Packages.machine import booted

SECONDS = 300
MOST = 10
QUEUE = {"CAPQUEUE_DIR": "/var/lib/capqueue"}
# The machine has neither a person who says yes nor a name that is in DNS.
SETUP = """
printf 'APT::Get::Assume-Yes "true";' > /etc/apt/apt.conf.d/yes
apt-get update -qq && apt-get install -qq --no-install-recommends sudo
useradd -m -s /bin/bash user && echo 'user ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/user
echo "127.0.0.1 $(hostname)" >> /etc/hosts
"""


def lines(keys, url):
    """The lines of the page, with the address and the keys of a store in place of those that it shows."""
    section = (ROOT / "Samples/operations.md").read_text().partition("## How do I begin on a new machine?")[2]
    block = re.search(r"^```\n(.*?)^```$", section, re.M | re.S)[1]
    expect(len(block.splitlines()) <= MOST, f"the page has {len(block.splitlines())} lines, expected {MOST}")
    for shown, own in {"https://s3.example.org/captures": url, "AKIDEXAMPLE": keys.id, "wJalrXUtnFEMI": keys.secret}.items():
        expect(block.count(shown) == 1, f"the page shows {shown} {block.count(shown)} times")
        block = block.replace(shown, own)
    return block


def begins(suite):
    def test(bench):
        require_root()
        store = seaweed.shared(bench)
        with booted(suite, bench.folder) as machine:
            machine.run("sh", "-ec", SETUP)
            folder = machine.path("home/user")
            for package in bench.packages.values():
                shutil.copy(package, folder)
            (folder / "lines").write_text("cd\nset -e -o pipefail\nshopt -s expand_aliases\n" + lines(store.keys, store.url))
            said = machine.run("bash", "/home/user/lines", user="user")
            name = re.search(r"^[0-9a-f]{8}-[0-9a-f-]{27}$", said, re.M)[0]
            machine.wait("the bundle is sent", lambda: f"{name} completed" in machine.run(
                "capqueue", "list", user="capqueue", env=QUEUE))
            data = (folder / "cap.bundle").read_bytes()
            expect(store.client().get(f"{hashlib.sha256(data).hexdigest()}.bundle") == data, "the store does not have its bytes")
            page = (folder / "report.html").read_text()
            expect(name in page and "verified" in page and "data:image/" in page, "the page lacks the bundle")
    return long(test)


TESTS = [(f"from packages to an S3 store and a page in a new {suite}, by the lines of operations.md", begins(suite))
         for suite in ("bookworm", "trixie")]
