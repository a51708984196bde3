"""What is sent again: by a queue, after lost answers, at the same time, and to every destination."""
import concurrent.futures

from Kit.outcomes import expect
from Kit.sending import wait_until
from Kit.servers.raw_server import Bare, answer, received
from Receiver.support import CAPTURES, receiving, same


def swallowing(receiver):
    """A server before a receiver. It reads the first upload whole, closes that connection, and forwards all others."""
    swallowed = []

    def serve(client, _):
        while heard := received(client):
            if heard.path == CAPTURES and not swallowed:
                swallowed.append(heard)
                return
            own = ("host", "connection", "expect", "content-length")
            headers = {name: value for name, value in heard.headers if name not in own}
            said = receiver.ask(heard.method, heard.path, headers, heard.body)
            client.sendall(answer(said.status, "Content-Type: application/json", body=said.bytes))

    return Bare(serve)


def lost_answers(tools):
    """The answer to an upload is lost, and verify-file names a capture with the same photo: one of another device, or a
    copy of this capture without its position, which has the same id. The whole capture arrives all the same."""
    def send(rig, server, receiver, body):
        env = rig.env | {"CAPQUEUE_DIR": str(rig.folder / "queue-of-unlucky")}
        tools.run("capqueue", "dest", "add", "receiver", "--kind", "http", "--url", server.url, "--device-id",
                  receiver.device(rig), "--key", rig.key, "--retry", "0,0,0", env=env)
        tools.run("capqueue", "push", body.bundle, env=env)
        tools.run("capqueue", "run", "--until-empty", env=env)
        expect(len(receiver.held()) == 2, f"the receiver has {receiver.held()}")
        kept = [path.read_bytes() for path in (receiver.folder / "queue").rglob("*.bundle")]
        expect(body.bundle.read_bytes() in kept, "the receiver does not have the whole capture")

    rig, other = tools.rig("unlucky"), tools.rig("other")
    with receiving(tools) as receiver, swallowing(receiver) as server:
        expect(receiver.upload(other, other.capture()).status == 202, "the other device's capture")
        send(rig, server, receiver, rig.capture())
    rig = tools.rig("redacting")
    with receiving(tools) as receiver, swallowing(receiver) as server:
        body, copy = rig.capture(), rig.folder / "copy.bundle"
        rig.run("redact", body.bundle, "--withhold", "location.json", "-o", copy)
        expect(receiver.upload(rig, rig.body(copy)).status == 202, "the copy without its position")
        send(rig, server, receiver, body)


def lost_and_sent_again(tools):
    """After the receiver lost or spoilt a capture, the identical request stores it again."""
    rig = tools.rig()

    def files(receiver, *folders):
        return [path for name in folders for path in (receiver.folder / name).rglob("*.bundle")]

    def send_again(receiver, first, body):
        again = receiver.upload(rig, body)
        expect((again.status, again.data) == (202, first.data), f"{again}")
        receiver.queue("get", first.data["capture_id"], "-o", rig.folder / "again.bundle", "--force")
        expect((rig.folder / "again.bundle").read_bytes() == body.bundle.read_bytes(), "other bytes")

    with receiving(tools) as receiver:
        # It was passed on, the queue released it, and then the last copy was lost.
        body = rig.capture("passed on")
        first = receiver.upload(rig, body)
        wait_until(lambda: first.data["capture_id"].encode() in receiver.queue("prune", "--older-than", "0s"), "it is passed on")
        for path in files(receiver, "kept"):
            path.unlink()
        send_again(receiver, first, body)
        wait_until(lambda: files(receiver, "kept"), "it is passed on again")
    with receiving(tools) as receiver:
        receiver.queue("dest", "retire", "kept")
        body = rig.capture("here")
        first = receiver.upload(rig, body)
        for path in files(receiver, "queue"):
            path.unlink()
        send_again(receiver, first, body)
        for path in files(receiver, "queue"):
            data = bytearray(path.read_bytes())
            data[data.index(b"\xff\xd8\xff") + 2000] ^= 1
            path.chmod(0o600)
            path.write_bytes(data)
        send_again(receiver, first, body)


def idempotency(tools):
    """The key of a request stays known over a restart; another body with it is refused."""
    rig = tools.rig()
    with receiving(tools) as receiver:
        first, second = rig.capture("first"), rig.capture("second")
        taken = receiver.taken(rig, first, Idempotency_Key="key-1")
        same(receiver.upload(rig, second, Idempotency_Key="key-1"), 422, "IDEMPOTENCY_KEY_REUSED")
        receiver.kill()
        receiver.start()
        same(receiver.upload(rig, second, Idempotency_Key="key-1"), 422, "IDEMPOTENCY_KEY_REUSED")
        expect(receiver.taken(rig, first, Idempotency_Key="key-1") == taken, "another id")
        expect(receiver.taken(rig, first, Idempotency_Key="key-2") == taken, "another id with another key")
        same(receiver.upload(rig, second, Idempotency_Key="key-2"), 422, "IDEMPOTENCY_KEY_REUSED")
        receiver.taken(rig, second, Idempotency_Key="key-3")
        expect(len(receiver.held()) == 2, f"the queue has {receiver.held()}")


def races(tools):
    """Identical requests at the same time make one capture; of two bodies with one key, one is taken."""
    rig = tools.rig()
    with receiving(tools) as receiver, concurrent.futures.ThreadPoolExecutor(8) as crowd:
        bodies = [rig.capture(f"race-{number}") for number in range(4)]
        receiver.device(rig)
        headers = [rig.signed(body.data, receiver.device(rig)) | {"Content-Type": body.content_type} for body in bodies]

        def post(number, **more):
            return receiver.ask("POST", CAPTURES, headers[number] | more, bodies[number].data)

        ids = [job.result().data for job in [crowd.submit(post, 0) for _ in range(8)]]
        expect(ids[0] and all(data == ids[0] for data in ids), f"eight identical requests: {ids}")
        answers = [job.result() for job in
                   [crowd.submit(post, number % 4, **{"Idempotency-Key": "one"}) for number in range(8)]]
        taken = {answer.data["capture_id"] for answer in answers if answer.status == 202}
        codes = {answer.code for answer in answers if answer.status != 202}
        expect(len(taken) == 1 and codes == {"IDEMPOTENCY_KEY_REUSED"}, f"{taken} {codes}")
        expect(set(receiver.held()) == taken | {ids[0]["capture_id"]}, "a refused capture is in the queue")


TESTS = [
    ("after a lost answer a capture arrives although another one has its photo", lost_answers),
    ("a capture that the receiver lost is taken again", lost_and_sent_again),
    ("an Idempotency-Key is for one body, also after a crash", idempotency),
    ("simultaneous requests", races),
]
