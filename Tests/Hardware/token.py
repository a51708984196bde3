"""Keys in a token, in a Debian that has pkcs11-provider."""
from Hardware import scenes
from Hardware.places import PIN
from Kit.outcomes import expect, long

SECONDS = 120


def words_of_failures(bench):
    """Each failure has words of its own, although the provider reports most of them in the same way: not at all."""
    place = bench.at_token()
    place.begin()
    none, token = {"OPENSSL_MODULES": "/nonexistent"}, "pkcs11:token=rig;object="
    pin, wrong = f"?pin-value={PIN}", "?pin-value=1111"
    cases = {
        "a wrong PIN": (77, "the token refuses the PIN", f"{token}device{wrong}", None),
        "a wrong PIN for a private key": (77, "refuses the PIN", f"{token}device;type=private{wrong}", None),
        "no PIN": (77, "needs a PIN and none was given", f"{token}device", None),
        "no file with the PIN": (77, "pin-source names cannot be read", f"{token}device?pin-source=file:/nowhere", None),
        "no token": (78, "no token fits this URI", f"pkcs11:token=none;object=device{pin}", None),
        "no key": (78, "no private key that fits this URI", f"{token}none{pin}", None),
        "several keys": (78, "4 private keys fit this URI, expected one", f"pkcs11:token=rig{pin}", None),
        "a key in two tokens": (78, "2 tokens have a key that fits this URI, expected one", f"pkcs11:object=device{wrong}", None),
        "no token is named or shows the key": (78, "no token shows a key that fits", f"pkcs11:object=none{wrong}", None),
        "a public key": (78, "type=public, expected type=private or no type", f"{token}device;type=public{wrong}", None),
        "RSA": (78, "another kind (RSA, 2048 bits), expected a private key on P-256", f"{token}rsa{pin}", None),
        "P-384": (78, "another kind (EC, secp384r1)", f"{token}curve{pin}", None),
        "a private key alone": (78, "no public key with the id of this private key", f"{token}lonely{pin}", None),
        "no module": (78, "module of the token cannot be loaded", f"{token}device{pin}",
                      {"PKCS11_PROVIDER_MODULE": "/nowhere.so"}),
        "no provider": (78, "package pkcs11-provider", f"{token}device{pin}", none),
    }

    scenes.refused(place, cases)


def shows_no_pin(bench):
    """The PIN of a URI is left out in everything that names the key."""
    place = bench.at_token()
    key = f"pkcs11:token=rig;object=device?pin-value={PIN}"
    texts = [place.run(*words, "--key", key) for words in (
        ("key", "show"), ("key", "recover", "--counter", "0"), ("key", "show"), ("key", "show", "--json"),
        ("key", "new"), ("pack", "raw", "-o", "x.bundle"), ("pack", "raw", "-o", "x.bundle"))]
    for result in texts:
        expect(PIN not in result.text and PIN.encode() not in result.out, f"the PIN is shown: {result.text} {result.out}")
    expect(b"pkcs11:token=rig;object=device\"" in texts[3].out, f"the URI is not shown: {texts[3].out}")
    expect(texts[5].code == 0, texts[5].text)


def sends_the_pin_to_one_token(bench):
    """A provider sends the PIN to each token that fits a URI, and each counts a wrong one."""
    place = bench.at_token()
    place.begin()

    def refusing(key):
        place.refuses(77 if "curve" in key else 78, "", "pack", "raw", "-o", "x.bundle",
                      "--key", f"{key}?pin-value=1111")
        return bench.token.refusing()

    right = f"pkcs11:token=rig;object=device?pin-value={PIN}"
    place.run("pack", "raw", "-o", "0.bundle", "--key", right).must(0)
    for key in ("pkcs11:object=device", "pkcs11:object=none", "pkcs11:token=rig;object=device;type=public"):
        expect(refusing(key) == [], f"{key}: {bench.token.refusing()} got the PIN")
    expect(refusing("pkcs11:object=curve") == ["rig"], f"{bench.token.refusing()} got the PIN")
    # Only the right PIN ends the count.
    place.run("pack", "raw", "-o", "1.bundle", "--key", right).must(0)
    expect(bench.token.refusing() == [], "the right PIN does not end the count")


TESTS = [(title, long(test)) for title, test in [
    # softhsm2 can lose its token if it is killed, so kills are tried with a TPM only.
    *((title, lambda bench, scene=scene: scene(bench.at_token())) for title, scene in scenes.ALL
      if scene is not scenes.survives_kills),
    ("each failure has words of its own", words_of_failures),
    ("no message shows the PIN of a URI", shows_no_pin),
    ("a PIN goes to one token only", sends_the_pin_to_one_token),
]]
