"""The units in the order in which one machine meets them: no queue yet, a destination that the unit may not write, mail that
fails, a queue whose file or disk is away."""
from Kit.outcomes import expect, long
from Service.bench import MAILS, QUEUE

SECONDS = 900
SEEN = "/var/lib/capqueue-check/seen"
ALIVE = "systemctl is-active -q capqueue.service && sleep 5 && systemctl is-active -q capqueue.service"
MOUNT = "mount -o loop /srv/disk /var/lib/capqueue"


def nothing_yet(bench):
    """Without a queue the check is silent, and the service waits for one."""
    machine = bench.machine
    expect(not machine.check(), "a mail comes before there is a queue")
    expect(machine.call(f"[ -e {SEEN} ]")[0] == 1, "a queue was seen where there is none")
    machine.must("systemctl start capqueue.service")
    machine.wait("the service is started again", "[ $(systemctl show -P NRestarts capqueue.service) -gt 0 ]")
    machine.capqueue("init")
    machine.wait("the service has found the queue",
                 "systemctl is-active -q capqueue.service && [ -e /var/lib/capqueue/run.lock ]")
    expect(not machine.check(), "a mail comes, and all is well")


def unlisted_folder(bench):
    """A destination outside of ReadWritePaths is blocked, says why, and is not tried until the unit lists it."""
    machine = bench.machine
    machine.must("install -d -o capqueue /srv/captures")
    machine.capqueue("dest add disk --kind folder --path /srv/captures")
    machine.capqueue("push /srv/a.bundle")
    machine.wait("the destination is blocked", f"CAPQUEUE_DIR={QUEUE} setpriv --reuid=capqueue --clear-groups --regid=capqueue "
                 "capqueue status | grep -q 'blocked.*local'")
    said = machine.capqueue("status --check", code=15)
    expect("ReadWritePaths" in said and "/srv/captures" in said, f"status --check says {said!r}")
    row = machine.capqueue("list")
    expect(" pending " in row and "failed" not in row, f"the capture is {row!r}")
    expect(not machine.check(), "a mail comes at once")
    machine.ages(2)
    expect(machine.check() == 1 and "ReadWritePaths" in machine.last_mail(), "no mail says that the unit has to list the folder")
    expect(not machine.check(), "a second mail comes within a day")
    machine.write("/etc/systemd/system/capqueue.service.d/disk.conf", "[Service]\nReadWritePaths=/srv/captures\n")
    machine.must("systemctl daemon-reload; systemctl restart capqueue.service")
    machine.wait("the capture is there", "ls /srv/captures/*.bundle")
    expect(not machine.check(), "a mail comes, and all is well again")


def mail_fails(bench):
    """A report whose mail fails is made again by the next check. A mail has only the words of the tool."""
    machine = bench.machine
    machine.must("systemctl stop capqueue.service")
    machine.capqueue("push --resend /srv/a.bundle")
    machine.capqueue("hold --all")
    expect(not machine.check(), "a mail comes at once")
    machine.ages(2)
    machine.must("mv /usr/sbin/sendmail /usr/sbin/sendmail.away")
    for _ in range(2):
        expect(not machine.check(), "a mail comes without a mail server")
        expect(machine.property("capqueue-check.service", "Result") == "exit-code", "the check is content, and nobody was told")
        expect(machine.property("capqueue-tell.service", "Result") == "exit-code", "telling has succeeded without a mail server")
    machine.must("mv /usr/sbin/sendmail.away /usr/sbin/sendmail")
    expect(machine.check() == 1, "no mail comes with the mail server")
    body = machine.last_mail().splitlines()
    found = machine.capqueue("status --check", code=15).splitlines()
    expect(body == ["capqueue status --check ended with 15:", *found] and "is held" in found[-1], f"the mail says {body}")
    expect(not machine.check(), "a second mail comes within a day")
    machine.ages(2)
    expect(machine.check() == 1, "no mail comes a day later")
    machine.capqueue("cancel --all")
    expect(not machine.check(), "a mail comes, and all is well")
    machine.must("systemctl start capqueue.service")


def file_gone(bench):
    """The database is removed while the service runs: a mail; it is back: the service comes back by itself."""
    machine = bench.machine
    machine.must(f"mkdir /srv/away; mv {QUEUE}/queue.sqlite* /srv/away")
    machine.must("systemctl restart capqueue.service || true")
    expect(machine.check() == 1, "no mail says that the database is gone")
    said = machine.last_mail()
    expect("there is no queue here" in said or "the database is missing" in said, f"the mail says {said!r}")
    expect(not machine.check(), "a second mail comes within a day")
    machine.must(f"rm -f {QUEUE}/queue.sqlite*; mv /srv/away/* {QUEUE}; rmdir /srv/away")
    machine.wait("the service is back", ALIVE)
    expect(not machine.check(), "a mail comes, and the database is back")


def disk_by_hand(bench):
    """The queue is on a disk that somebody mounts later, as after cryptsetup: until then mail, then the service comes back. An
    unmount while it runs, and another mount, lead there too."""
    machine = bench.machine
    machine.must("systemctl stop capqueue.service; cp -a /var/lib/capqueue /srv/copy; rm -r /var/lib/capqueue/*; "
                 "truncate -s 64M /srv/disk; mkfs.ext4 -q /srv/disk; " + MOUNT +
                 "; cp -a /srv/copy/. /var/lib/capqueue; rm -r /srv/copy; umount /var/lib/capqueue; systemctl start capqueue.service")
    machine.wait("the service ends with 66, and is tried again", "systemctl status capqueue.service | grep -q auto-restart")
    expect(machine.check() == 1, "no mail says that there is no queue")
    machine.must(MOUNT)
    machine.wait("the service comes back", ALIVE)
    expect(not machine.check(), "a mail comes, and the disk is back")
    code, said = machine.call("umount /var/lib/capqueue")
    print(f"     umount of a running service: exit {code} {said!r}", flush=True)
    if code == 0:
        expect(machine.check() == 1, "no mail says that the disk was unmounted")
        machine.must(MOUNT)
        machine.wait("the service is active", ALIVE)
        expect(not machine.check(), "a mail comes, and the disk is back")
    machine.capqueue("push --resend /srv/a.bundle")
    machine.wait("the service sends", "[ -z \"$(CAPQUEUE_DIR=/var/lib/capqueue setpriv --reuid=capqueue --regid=capqueue "
                 "--clear-groups capqueue list --state pending)\" ]")


def journal(bench):
    """libdispatch has written nothing about its threads, into the journal or the mails."""
    machine = bench.machine
    for _ in range(6):
        machine.must("systemctl start capqueue-check.service")
    code, said = machine.call(f"journalctl -b --no-pager | grep 'thread priority'; grep 'thread priority' {MAILS}")
    expect(code and not said.strip(), f"the journal has {said[:300]!r}")


TESTS = [(title, long(test)) for title, test in (
    ("no queue yet: silence, and the service finds the one that is made", nothing_yet),
    ("a folder outside of ReadWritePaths is named", unlisted_folder),
    ("mail that fails is tried again, and has only the words of the tool", mail_fails),
    ("the database is removed: a mail", file_gone),
    ("a disk that is mounted by hand: a mail until then", disk_by_hand),
    ("no thread complains of its priority", journal),
)]
