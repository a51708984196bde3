"""From a raw folder to a delivered capture with a mistake at each step: messages name the command to type next."""
import ssl

from Kit.outcomes import expect
from Kit.sending import AT_ONCE, DEVICE
from Kit.servers.capture_api import Answer, CaptureAPI
from Kit.servers.certificates import Authority
from Kit.servers.raw_server import Bare

STRANGER = DEVICE[:-1] + "d"


class Person:
    """Types what the messages before have named."""

    def __init__(self, rig):
        self.rig, self.shown = rig, ""

    def types(self, *words, code=0, named=None):
        """A command. `named` is how the messages before have put it, where they have words for its values."""
        if named:
            expect(named in self.shown, f"nothing has named {named!r}, but {self.shown!r}")
        codes = [code] if isinstance(code, int) else code
        result = self.rig.run(*words).must(*codes, about=" ".join(map(str, words)))
        self.shown = result.out.decode() + result.text
        return self

    def sees(self, *texts):
        for text in texts:
            expect(text in self.shown, f"it does not say {text!r}, but {self.shown!r}")


def ten_mistakes(bench):
    rig = bench.rig()
    person = Person(rig)
    right, wrong = rig.folder / "right", rig.folder / "wrong"
    for file, text in ((right, "sesame"), (wrong, "open")):
        file.write_text(text)
        file.chmod(0o600)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*Authority(rig.folder / "tls").server())
    with CaptureAPI(bench.public) as api, Bare(lambda client, _: client.recv(1), context) as tls:
        api.token = "sesame"
        person.types("push", rig.raw, code=66).sees("is a raw capture, expected a bundle")
        person.types("adopt", "--pack", rig.raw, "--key", rig.key, named=f"capqueue adopt --pack {rig.raw}")
        person.sees("nothing is sent until there is a destination")
        person.types("run", code=15).sees("nothing is sent until there is a destination", "1 waits")
        person.types("dest", "add", "api", "--kind", "https", code=64,
                     named="capqueue dest add NAME --kind KIND").sees("http")
        person.types("dest", "add", "api", "--kind", "http", code=78).sees("http needs --url")
        person.types("dest", "add", "api", "--kind", "http", "--url", "127.0.0.1:1", code=78,
                     named="--url https://").sees("begins with https:// or http://")
        device = ("--key", rig.key, "--device-id")
        person.types("dest", "add", "api", "--kind", "http", "--url", "http://127.0.0.1:1", *device, "lamp",
                     code=78).sees("the server gave the device one")
        person.types("dest", "add", "api", "--kind", "http", "--url", "http://127.0.0.1:1", *device, STRANGER,
                     "--token-file", wrong, "--retry", AT_ONCE).sees("added api")
        set_url = "capqueue dest set api --url URL"
        person.types("dest", "test", "api", code=15).sees("http://127.0.0.1:1: couldn't connect to server")
        person.types("dest", "set", "api", "--url", f"http://127.0.0.1:{tls.port}", named=set_url)
        person.types("dest", "test", "api", code=(15, 78)).sees("its URL begins with https://")
        person.types("dest", "set", "api", "--url", api.url.replace("http:", "https:"),
                     named="capqueue dest set api --url https://")
        person.types("dest", "test", "api", code=78).sees("does not speak TLS, so its URL begins with http://")
        person.types("dest", "set", "api", "--url", api.url + "/captures", named=set_url)
        person.types("dest", "test", "api", code=78).sees(f"{api.url}/captures answered 404")
        person.types("run", code=(14, 15)).sees(f"{api.url}/captures answered 404", "1 waits")
        person.types("dest", "set", "api", "--url", api.url, named=set_url)
        person.types("dest", "test", "api", code=78).sees("TOKEN_INVALID")
        person.types("dest", "set", "api", "--token-file", right, named="capqueue dest set api --token-file FILE")
        person.types("run", code=(14, 15)).sees("DEVICE_NOT_FOUND", "1 waits")
        person.types("dest", "set", "api", "--device-id", DEVICE, named="capqueue dest set api --device-id UUID")
        person.types("dest", "test", "api").sees(f"{api.url}/api/v1/captures accepts captures")
        api.answer(Answer(400, code="VALIDATION_ERROR"))
        person.types("run", code=14).sees("VALIDATION_ERROR", "1 failed for good", "see why with: capqueue show ID")
        person.types("retry", "--failed", named="capqueue retry --failed; capqueue run")
        person.types("run").sees("sent 1 capture", "to api in")
        expect(len(api.stored) == 1, f"the server has {len(api.stored)} captures")
        person.types("run").sees("nothing to send")


TESTS = [("ten mistakes on the way to the first delivered capture", ten_mistakes)]
