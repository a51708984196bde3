"""Devices: invitations, registration, and which senders are refused."""
import concurrent.futures
import json
import time

from Kit.outcomes import expect
from Kit.servers.raw_server import Bare, answer, saying
from Receiver.support import CAPTURES, RAW, REGISTER, UNKNOWN, receiving, same


def script_of_an_invitation(tools):
    """The script registers the device and adds the destination, to which the queue then sends."""
    rig = tools.rig("scripted")
    with receiving(tools) as receiver:
        script, queue = rig.folder / "rig-6.sh", rig.folder / "script-queue"
        script.write_text(receiver.command("invite", "rig-6"))
        env = rig.env | {"CAPQUEUE_DIR": str(queue)}
        said = tools.run("sh", script, receiver.url, env=env).decode()
        expect('"name":"rig-6"' in said, f"prints {said!r}")
        tools.run("capqueue", "push", *(rig.capture(name).bundle for name in "abc"), env=env)
        tools.run("capqueue", "run", "--until-empty", env=env)
        expect(len(receiver.held()) == 3, f"the receiver has {receiver.held()}")
        tools.run("sh", script, allowed=(2,))
        tools.run("sh", script, "127.0.0.1:1", env=env, allowed=(64,))
        # The device gets a new key, and an invitation for it.
        rig.run("key", "new", "--key", rig.folder / "second.key")
        script.write_text(receiver.command("invite", "rig-7"))
        env |= {"CAPBUNDLE_KEY": str(rig.folder / "second.key")}
        expect('"name":"rig-7"' in tools.run("sh", script, receiver.url + "/", env=env).decode(), "a new key")
        bundle = rig.folder / "second.bundle"
        tools.run("capbundle", "pack", RAW, "-o", bundle, env=env)
        tools.run("capqueue", "push", bundle, env=env)
        tools.run("capqueue", "run", "--until-empty", env=env)
        expect(len(receiver.held()) == 4, f"the receiver has {receiver.held()}")


def portal(status):
    """A server that answers each request with this status and a web page, as a hotel's network does."""
    return Bare(saying(lambda _: answer(status, "Location: https://127.0.0.1:1/", body=b"<html>Welcome</html>")))


def careful_script(tools):
    """The script changes no queue if nothing was registered, and no destination of another receiver."""
    rig = tools.rig("careful")
    with receiving(tools) as receiver, receiving(tools) as other:
        script, env = rig.folder / "rig-8.sh", rig.env | {"CAPQUEUE_DIR": str(rig.folder / "careful-queue")}

        def run(url, *words, code=0):
            return tools.run("sh", script, url, *words, env=env, allowed=(code,))

        def destinations():
            lines = tools.run("capqueue", "dest", "list", "--json", env=env).decode().splitlines()
            return {one["name"]: one["settings"]["url"] for one in map(json.loads, lines)}

        script.write_text(receiver.command("invite", "rig-8"))
        for status in (301, 200):
            with portal(status) as server:
                run(server.url, code=69)
        run("http://127.0.0.1:1", code=69)
        expect(not (rig.folder / "careful-queue").exists(), "the script made a queue")
        run(receiver.url)
        run(receiver.url)
        script.write_text(other.command("invite", "rig-8"))
        run(other.url, code=64)
        expect(destinations() == {"receiver": receiver.url}, f"destinations: {destinations()}")
        expect(not other.command("devices"), "the other receiver has a device")
        run(other.url, "office")
        expect(destinations() == {"receiver": receiver.url, "office": other.url}, f"destinations: {destinations()}")
        tools.run("capqueue", "dest", "retire", "office", env=env)
        run(other.url, "office", code=64)


def registration(tools):
    rig, other = tools.rig(), tools.rig("other")
    with receiving(tools) as receiver:
        device_id, secret = receiver.invite("rig-4")
        refused = 401, "INVITATION_INVALID"
        same(receiver.register(rig, device_id, "0" * 40), *refused)
        same(receiver.register(rig, UNKNOWN, secret), *refused)
        for wrong in ("AAAA", {"kty": "EC"}, rig.jwk | {"crv": "P-384"}, rig.jwk | {"x": rig.jwk["y"]},
                      rig.jwk | {"x": rig.jwk["x"] + "="}, rig.jwk | {"y": "A" * 42}):
            same(receiver.register(rig, device_id, secret, public_key=wrong), 400, "VALIDATION_ERROR")
        same(receiver.register(rig, device_id, secret, public_key=other.jwk), 401, "SIGNATURE_INVALID")
        same(receiver.ask("POST", REGISTER, rig.signed(b"[]", device_id), b"[]"), 400, "VALIDATION_ERROR")
        same(receiver.ask("POST", REGISTER, rig.signed(b"x" * 5000, device_id), b"x" * 5000), 413, "PAYLOAD_TOO_LARGE")
        same(receiver.ask("POST", REGISTER, {}, b"{}"), 401, "DEVICE_AUTH_REQUIRED")
        answer = receiver.register(rig, device_id.upper(), secret)
        expect(answer.status == 201 and answer.data["device_id"] == device_id and answer.data["name"] == "rig-4"
               and answer.data["key_id"] == rig.key_id and answer.data["attestation_level"] == "unverified", f"{answer}")
        expect(receiver.register(rig, device_id, secret).data == answer.data, "the same registration again")
        same(receiver.register(other, device_id, secret), 409, "INVITATION_USED")
        expect(receiver.register(other, *receiver.invite("other")).status == 201, "its own invitation, after another's")
        other = tools.rig("third")
        same(receiver.register(rig, *receiver.invite("rig-5")), 409, "DEVICE_ALREADY_REGISTERED")
        late_id, late = receiver.invite("late")
        invitation = receiver.folder / "shared/invitations" / late_id
        invitation.write_text(json.dumps(json.loads(invitation.read_text()) | {"expires": int(time.time() * 1000) - 1}))
        same(receiver.register(other, late_id, late), *refused)
        gone_id, gone = receiver.invite("gone")
        receiver.command("revoke", gone_id)
        same(receiver.register(other, gone_id, gone), *refused)
        listed = receiver.command("devices").splitlines()
        expect(f"{device_id} rig-4 {rig.key_id}" in listed and len(listed) == 2, f"devices: {listed}")
        secrets = [path for path in receiver.folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
        expect(not secrets and secret not in receiver.said(), f"the secret is in {secrets}")
        for words in (("invite", "a name"), ("invite", "x", "--days", "0"), ("revoke", "x"), ("revoke", UNKNOWN)):
            receiver.command(*words, allowed=(64,))


def one_device_a_key(tools):
    """Two keys use one invitation at the same time. The key that lost can register later, but only as one device."""
    with receiving(tools) as receiver:
        for number in range(5):
            rigs = [tools.rig(f"racer-{number}-{side}") for side in "ab"]
            invitation = receiver.invite("one")
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                answers = list(pool.map(lambda rig, device=invitation: receiver.register(rig, *device), rigs))
            statuses = [answer.status for answer in answers]
            expect(sorted(statuses) == [201, 409], f"the answers are {statuses}")
            loser = rigs[statuses.index(409)]
            expect(receiver.register(loser, *receiver.invite("two")).status == 201, "a key that lost an invitation")
            same(receiver.register(loser, *receiver.invite("three")), 409, "DEVICE_ALREADY_REGISTERED")


def two_invitations_a_key(tools):
    """A key uses several invitations at the same time. It becomes one device, and other keys can use the others."""
    rig = tools.rig("greedy")
    with receiving(tools) as receiver:
        invitations = [receiver.invite("one") for _ in range(8)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda invitation: receiver.register(rig, *invitation), invitations))
        won = [answer.status == 201 for answer in answers]
        expect(sum(won) == 1 and {answer.status for answer in answers} == {201, 409}, f"{[str(one) for one in answers]}")
        # Whatever the race did, these are the objects if all eight were claimed before the first became the device.
        place = receiver.folder / "shared/devices"
        line = (place / invitations[won.index(True)][0]).read_bytes()
        lost = [invitation for invitation, has_won in zip(invitations, won) if not has_won]
        for device_id, _ in lost:
            (place / device_id).write_bytes(line)
        others = [tools.rig(f"late-{number}") for number in range(3)]
        for other, invitation in zip(others, lost):
            expect(receiver.register(other, *invitation).status == 201, "an invitation that lost is used up")
            expect(receiver.register(other, *invitation).status == 201, "the same registration again")
            receiver.devices[other.name] = invitation[0]
            receiver.taken(other, other.capture())
        same(receiver.register(tools.rig("too-late"), *lost[0]), 409, "INVITATION_USED")
        same(receiver.register(rig, *lost[5]), 409, "DEVICE_ALREADY_REGISTERED")
        listed = receiver.command("devices").splitlines()
        expect(len(listed) == 4 and {one.split()[2] for one in listed} == {one.key_id for one in (rig, *others)}, f"{listed}")
        receiver.command("revoke", lost[0][0])
        same(receiver.upload(others[0], others[0].capture()), 403, "DEVICE_UNVERIFIED")


def senders(tools):
    """Wrong headers, unknown and revoked devices, other keys: each has its code, and nothing is kept."""
    rig, other = tools.rig(), tools.rig("other")
    with receiving(tools) as receiver:
        body, now = rig.capture(), int(time.time() * 1000)
        device, stranger = receiver.device(rig), receiver.device(other)

        def post(data=body.data, content_type=body.content_type, by=rig, at=None, device_id=device, **changed):
            headers = by.signed(data, device_id, at) | {"Content-Type": content_type}
            headers |= {name.replace("_", "-"): value for name, value in changed.items()}
            return receiver.ask("POST", CAPTURES, {k: v for k, v in headers.items() if v is not None}, data)

        for name in ("X_Device_Id", "X_Device_Timestamp", "X_Device_Signature"):
            same(post(**{name: None}), 401, "DEVICE_AUTH_REQUIRED")
        wrong = {"X_Device_Id": ["x", device[:-1], device + "0"], "X_Device_Timestamp": ["x", "01", "-1", "1e3", "9" * 30],
                 "X_Device_Signature": ["x", "AAAA", "MEUCIQ=="], "Content_Type": ["text/plain", "multipart/form-data"],
                 "Idempotency_Key": ["k" * 256, "a b"]}
        for name, values in wrong.items():
            for value in values:
                same(post(**{name: value}), 400, "VALIDATION_ERROR")
        same(post(at=now - 400_000), 401, "TIMESTAMP_EXPIRED")
        same(post(at=now + 120_000), 401, "TIMESTAMP_INVALID")
        same(post(device_id=UNKNOWN), 404, "DEVICE_NOT_FOUND")
        same(post(by=other), 401, "SIGNATURE_INVALID")
        same(post(device_id=stranger), 401, "SIGNATURE_INVALID")
        same(post(by=other, device_id=stranger), 403, "DEVICE_MISMATCH")
        damaged = bytearray(body.data)
        damaged[-2000] ^= 1
        same(post(bytes(damaged)), 400, "VALIDATION_ERROR")
        same(post(body.data[:-1]), 400, "VALIDATION_ERROR")
        same(post(b"x"), 400, "VALIDATION_ERROR")
        expect(receiver.held() == [], f"the queue has {receiver.held()}")
        taken = receiver.taken(rig, body)
        receiver.command("revoke", device)
        same(receiver.upload(rig, body), 403, "DEVICE_UNVERIFIED")
        same(receiver.ask("GET", f"{CAPTURES}/{taken}", rig.signed(b"", device)), 403, "DEVICE_UNVERIFIED")
        expect(receiver.held() == [taken], f"the queue has {receiver.held()}")
        expect(receiver.command("devices").count("revoked") == 1, "the list does not say that the device is revoked")
        same(receiver.ask("GET", "/nowhere"), 404, "NOT_FOUND")
        same(receiver.ask("GET", CAPTURES), 404, "NOT_FOUND")


TESTS = [
    ("the script of an invitation registers a device", script_of_an_invitation),
    ("the script of an invitation changes nothing that it should not", careful_script),
    ("registration needs an unused invitation and its key", registration),
    ("a key is for one device, also after it lost an invitation", one_device_a_key),
    ("an invitation that a key does not get stays usable", two_invitations_a_key),
    ("wrong senders and bodies are refused", senders),
]
