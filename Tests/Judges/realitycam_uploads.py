"""Uploads to RealityCam that Python makes: a sound one, and those that break one rule each."""
import base64
import dataclasses
import gzip
import hashlib
import json

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from Kit.sending import DEVICE
from Kit.servers.realitycam_api import RPID
from realitycam.upload import Upload

BOUNDARY = "realitycam-0123456789"
NOW = 1_773_476_813_589
EMPTY = hashlib.sha256(b"").hexdigest()


def cbor(members):
    """Returns the base64 of a map of byte strings."""
    def head(major, count):
        return bytes([major << 5 | count]) if count < 24 else bytes([major << 5 | 24, count])
    pairs = b"".join(head(3, len(name)) + name.encode() + head(2, len(data)) + data for name, data in members.items())
    return base64.b64encode(head(5, len(members)) + pairs).decode()


def raw_form(signature):
    return b"".join(number.to_bytes(32, "big") for number in decode_dss_signature(signature))


@dataclasses.dataclass
class Recipe:
    """What an upload is made from. A test changes one field, and everything that depends on it follows."""

    photo: bytes
    floats: bytes
    size: tuple
    key: object = dataclasses.field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    level: str = "secure_enclave"
    counter: int = 7  # of the assertion
    header: int = 5  # the counter of the header
    rpid: str = RPID
    boundary: str = BOUNDARY
    time: str = "2026-03-14T14:09:26.535Z"
    timestamp: str = str(NOW)
    compress: object = staticmethod(lambda data: gzip.compress(data, mtime=0))
    encode: object = staticmethod(lambda value: json.dumps(value).encode())
    edit: object = staticmethod(lambda metadata: metadata)  # changes the metadata after they were signed
    sign: object = None  # another way to sign: (key, data, client_data) -> DER
    finish: object = staticmethod(lambda body: body)  # changes the body before it is signed
    sent: object = staticmethod(lambda body: body)  # changes the body after it was signed
    names: tuple = ("metadata", "depth_map", "photo")
    form: object = staticmethod(cbor)

    def signed(self, client_data, counter):
        data = hashlib.sha256(self.rpid.encode()).digest() + b"\x40" + counter.to_bytes(4, "big")
        message = data + hashlib.sha256(client_data).digest()
        sign = self.sign or (lambda key, *_: key.sign(message, ec.ECDSA(hashes.SHA256())))
        made = sign(self.key, data, client_data)
        return self.form({"signature": made, "authenticatorData": data})

    def metadata(self):
        digest = hashlib.sha256(self.photo).hexdigest()
        value = {"captured_at": self.time, "device_model": "iPhone 15 Pro", "photo_hash": digest,
                 "depth_map_dimensions": {"width": self.size[0], "height": self.size[1]},
                 "location": {"latitude": 1.5, "longitude": -2, "altitude": None, "accuracy": 4.0}}
        if self.level == "secure_enclave":
            value["assertion"] = self.signed(f"{digest}|{self.time}".encode(), self.counter)
        return self.encode(self.edit(value))

    def body(self):
        data = {"metadata": self.metadata(), "depth_map": self.compress(self.floats), "photo": self.photo}
        parts = b""
        for name in self.names:
            head = f'--{self.boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n\r\n'
            parts += head.encode() + data[name.lower()] + b"\r\n"
        return self.finish(parts + f"--{self.boundary}--\r\n".encode())

    def headers(self, digest):
        return {"X-Device-Id": DEVICE, "X-Device-Timestamp": self.timestamp, "X-Request-Id": DEVICE,
                "X-Device-Signature": self.signed(f"{self.timestamp}|{digest}".encode(), self.header)}

    def upload(self, **changes):
        body = self.body()
        made = Upload(self.sent(body), f"multipart/form-data; boundary={self.boundary}",
                      self.headers(hashlib.sha256(body).hexdigest()), self.key.public_key(), RPID, 4, NOW, self.photo,
                      self.floats, self.level, DEVICE, "ab" * 32, self.body(), self.headers(EMPTY), DEVICE)
        return dataclasses.replace(made, **changes)
