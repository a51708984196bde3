"""The table of stamps: what `capbundle verify` says of each. All are over one signature, and are trusted by one root."""
import hashlib

from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa

from Kit.outcomes import expect
from StampJudges import chains, signatures, tokens
from StampJudges.stamps import Stamp
from Stamps.authority import Signer


class Signers:
    """A root, and signers below it with keys of each kind."""

    def __init__(self):
        self.root = Signer("root", is_authority=True)
        self.between = Signer("between", self.root, is_authority=True)
        made = {"tsa": ec.generate_private_key(ec.SECP256R1()), "p384": ec.generate_private_key(ec.SECP384R1()),
                "p521": ec.generate_private_key(ec.SECP521R1()),
                "brainpool": ec.generate_private_key(ec.BrainpoolP256R1()),
                "rsa": rsa.generate_private_key(65537, 2048), "weak": rsa.generate_private_key(65537, 1024),
                "ed25519": ed25519.Ed25519PrivateKey.generate(), "ed448": ed448.Ed448PrivateKey.generate()}
        for name, key in made.items():
            setattr(self, name, Signer("tsa", self.root, key=key))
        self.below = Signer("tsa", self.between)
        self.stranger = Signer("tsa", Signer("root", is_authority=True))

    def leaf(self, **how):
        return Signer("tsa", self.root, **how)


def table(signers, data):
    """Returns (what ours says, the bytes) by the names of the stamps; `data` is what is stamped."""
    good = Stamp(signers.tsa, hashlib.sha256(data).digest())
    parts = (signatures.signatures(signers, good), signatures.hashed(signers, good, data),
             signatures.attributes(signers, good), tokens.contents(signers, good), tokens.infos(signers, good),
             tokens.encodings(good), chains.signer_certificates(signers, good), chains.chains(signers, good))
    made = {name: row for part in parts for name, row in part.items()}
    expect(len(made) == sum(map(len, parts)), "two stamps of the table have one name")
    return {name: (told, stamp.der() if isinstance(stamp, Stamp) else stamp) for name, (told, stamp) in made.items()}
