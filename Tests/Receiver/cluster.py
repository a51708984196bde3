"""Two receivers behind nginx, with one S3-compatible store: captures, registrations and revocations survive a kill."""
import json
import signal
import urllib.parse

from Kit.outcomes import expect
from Kit.sending import wait_until
from Kit.servers.seaweed import Seaweed, shared
from Receiver.clusters import RETRY, Cluster, with_credentials
from Receiver.links import FORM_TYPE, form
from Receiver.support import CAPTURES, RAW, VERIFY_FILE, Receiver, Rig


def survives_a_kill(tools):
    """When a device's receiver is killed, nginx sends its captures to the other one; none is lost or kept twice."""
    with Cluster(tools) as cluster:
        rig = Rig(tools, "steady")
        device_id = cluster.a.device(rig)
        cluster.b.devices = cluster.devices = cluster.a.devices
        bodies = [rig.capture("before"), rig.capture("after")]
        cluster.taken(rig, bodies[0])
        killed = cluster.receiver_of(rig, device_id)
        killed.kill()
        for body in bodies:
            wait_until(lambda body=body: cluster.upload(rig, body).status == 202, "the other receiver takes a capture")
        killed.start()
        cluster.keeps([body.bundle.read_bytes() for body in bodies])


def finds_captures_of_the_other(tools):
    """A capture that only one receiver has is found by requests that nginx sends to the other."""
    with Cluster(tools) as cluster:
        rig = Rig(tools, "finder")
        device_id = cluster.a.device(rig)
        cluster.b.devices = cluster.devices = cluster.a.devices
        other = cluster.b if cluster.receiver_of(rig, device_id) is cluster.a else cluster.a
        body = rig.capture()
        capture_id = other.taken(rig, body)
        answer = cluster.asked(rig, capture_id)
        expect(answer.status == 200, f"GET of the capture: {answer}")
        photo = form(('Content-Disposition: form-data; name="file"; filename="photo.jpg"', (RAW / "photo.jpg").read_bytes()))
        path = urllib.parse.urlsplit(answer.data["verification_url"]).path
        for name, start in ((path, b"<!DOCTYPE html>"), (f"{path}/photo.jpg", b"\xff\xd8"),
                            (f"{path.rpartition('/')[0]}.html", b"<!DOCTYPE html>")):
            page = cluster.ask("GET", name)
            expect(page.status == 200 and page.bytes.lower().startswith(start.lower()), f"{name}: {page.status}")
        for place in (cluster.a, cluster.b, cluster):
            answer = place.ask("POST", VERIFY_FILE, {"Content-Type": FORM_TYPE}, photo)
            expect(answer.status == 200 and answer.data["status"] == "verified", f"verify-file: {answer}")
            expect(answer.data["capture_id"] == capture_id, "verify-file names another capture")


def registers_everywhere(tools):
    """An invitation, a registration and a revocation of one receiver count at the other at once."""
    with Cluster(tools) as cluster:
        a, b, rig = cluster.a, cluster.b, Rig(tools, "traveller")
        device_id, secret = a.invite(rig.name)
        answer = b.register(rig, device_id, secret)
        expect(answer.status == 201, f"registering at the other receiver: {answer}")
        expect(device_id in a.command("devices"), "the receiver that invited does not list the device")
        a.devices = b.devices = cluster.devices = {rig.name: device_id}
        a.taken(rig, rig.capture("first"))
        a.command("revoke", device_id)
        for answer in [place.upload(rig, rig.capture("second")) for place in (a, b, cluster)]:
            expect((answer.status, answer.code) == (403, "DEVICE_UNVERIFIED"), f"after the revocation: {answer}")


def waits_for_the_store(tools):
    """Without the store, devices are asked to wait. They are served again when it is back."""
    store = Seaweed(tools.scratch("seaweed"))
    try:
        with Cluster(tools, store) as cluster:
            rig = Rig(tools, "patient")
            cluster.a.device(rig)
            store.process.send_signal(signal.SIGSTOP)  # the store accepts connections and does not answer
            answer = cluster.a.upload(rig, rig.capture())
            expect(answer.status == 503 and "Retry-After" in answer.headers, f"with a silent store: {answer}")
            store.process.send_signal(signal.SIGCONT)
            cluster.a.taken(rig, rig.capture())
            store.stop()
            answer = cluster.a.upload(rig, rig.capture("second"))
            expect(answer.status == 503 and "Retry-After" in answer.headers, f"without the store: {answer}")
    finally:
        store.stop()


def waits_for_the_receivers(tools):
    """No receiver runs behind nginx. A queue with one capture does not count the tries, and sends it when one is back."""
    with Cluster(tools) as cluster:
        rig = Rig(tools, "lonely")
        env = rig.env | {"CAPQUEUE_DIR": str(rig.folder / "queue")}

        def capqueue(*words, allowed=(0,)):
            return tools.run("capqueue", *words, env=env, allowed=allowed)

        capqueue("dest", "add", "receiver", "--kind", "http", "--url", cluster.url, "--device-id", cluster.a.device(rig),
                 "--key", rig.key, "--ca", cluster.authority.path, *RETRY)
        capqueue("push", rig.capture().bundle)
        for receiver in (cluster.a, cluster.b):
            receiver.kill()
        for _ in range(12):  # two more than the table of tries has
            capqueue("run", allowed=(15,))
            capqueue("resume")
        delivery, = json.loads(capqueue("list", "--json"))["deliveries"]
        expect((delivery["state"], delivery["attempts"]) == ("pending", 0), f"the capture is {delivery}")
        for receiver in (cluster.a, cluster.b):
            receiver.start()
        wait_until(lambda: capqueue("resume") is not None and b"completed" in capqueue("run", allowed=(0, 15)), "it lands")


def hides_what_is_private(tools):
    """nginx forwards neither the metrics nor the operator's pages, and refuses what is far too large."""
    with Cluster(tools) as cluster:
        for path in ("/metrics", "/at/a/metrics", "/at/b/metrics", "/at/a/", "/", "/at/a/verify/../../metrics",
                     "/at/a/verify/%2e%2e/metrics", "/at/a/verify/..%2fmetrics", "/at/a/api/v1/captures",
                     "/api/v1/../../metrics", "/at/a/verify/../metrics"):
            answer = cluster.ask("GET", path)
            expect(answer.status in (400, 404) and b"# TYPE" not in answer.bytes, f"{path}: {answer.status}")
        expect(cluster.ask("GET", "/healthz").status == 200, "/healthz")
        answer = cluster.ask("POST", CAPTURES, {"Content-Type": "multipart/form-data; boundary=x"}, bytes(22 << 20))
        expect(answer.status == 413, f"22 MiB: {answer}")


def shares(tools):
    """`share` moves the devices of a folder to the store, for this receiver and for others."""
    tools = with_credentials(tools, shared(tools))
    url = f"{shared(tools).url}/{tools.scratch('share').name}"
    first, rig = Receiver(tools), Rig(tools, "mover")
    first.start()
    device_id = first.device(rig)
    first.command("share", "--url", url, allowed=(64,))  # it would go on with the devices of its folder
    first.stop()
    expect("copied 1 device" in first.command("share", "--url", url), "share does not say what it copied")
    first.command("share", "--url", url)  # the same again changes nothing
    first.command("share", "--url", f"{url}-elsewhere", allowed=(1,))
    first.start()
    first.taken(rig, rig.capture())
    first.stop()
    second = Receiver(tools)
    second.command("share", "--url", url)
    expect(device_id in second.command("devices"), "the second receiver does not know the device")


TESTS = [("a receiver is killed, and the other one takes its devices", survives_a_kill),
         ("captures of the other receiver are found", finds_captures_of_the_other),
         ("registrations and revocations count everywhere", registers_everywhere), ("the store is away", waits_for_the_store),
         ("no receiver runs", waits_for_the_receivers),
         ("nginx forwards only what is public", hides_what_is_private), ("devices move to the shared store", shares)]
