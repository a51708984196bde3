"""What the rules look at: one upload with all that belongs to it."""
import dataclasses
import functools
import json

from .form import Broken, parts_of
from .signature import decoded


@dataclasses.dataclass(frozen=True)
class Upload:
    """A body, the headers of its request, and what the server and the user know besides."""

    body: bytes
    content_type: str
    headers: dict  # the request's other headers, as sent
    key: object  # the public key of the device, as `cryptography` loads it
    rpid: str
    stored: int = 0  # the counter that the server has for the device before this request
    now: int | None = None  # the server's time in milliseconds; None: not judged
    photo: bytes | None = None  # the photo as captured; None: not compared
    floats: bytes | None = None  # the depth map as captured, in little-endian 32-bit floats
    level: str = "secure_enclave"  # the attestation level of the device
    device_id: str | None = None  # the UUID from the registration
    key_id: str | None = None  # the id of the device's key, which is not the device id
    again: bytes | None = None  # a second body that was made from the same bundle
    get: dict | None = None  # the headers of a GET that follows
    reply_id: str | None = None  # `meta.request_id` of the answer
    analysis: dict | None = None  # what another program says about the depth map (rule 34)

    @functools.cached_property
    def parts(self):
        return parts_of(self.body)

    def data(self, name):
        """Returns the data of the one part with this name."""
        found = [part.data for part in self.parts if part.name == name]
        if len(found) != 1:
            raise Broken(f"{len(found)} parts are named {name}")
        return found[0]

    @functools.cached_property
    def metadata(self):
        """The metadata; raises ValueError for anything but an object in UTF-8 with each key once."""
        value = json.loads(self.data("metadata").decode("utf-8"), object_pairs_hook=_members, parse_constant=_refuse)
        if not isinstance(value, dict):
            raise ValueError("the metadata is not an object")
        return value

    @property
    def size(self):
        """Width and height from the metadata; raises ValueError if they are not two integers."""
        sides = self.metadata.get("depth_map_dimensions")
        found = [sides.get(name) for name in ("width", "height")] if isinstance(sides, dict) else []
        if len(found) != 2 or any(type(side) is not int for side in found):
            raise ValueError("depth_map_dimensions is not {width, height} with integers")
        return found

    @functools.cached_property
    def assertion(self):
        """The assertion of the metadata; None if there is none."""
        text = self.metadata.get("assertion")
        return None if text is None or text == "" else decoded(text)

    @functools.cached_property
    def lower(self):
        """The headers by name in lower case."""
        return {name.lower(): value for name, value in self.headers.items()}

    @functools.cached_property
    def signature(self):
        """The decoded signature of the request."""
        return decoded(self.lower.get("x-device-signature"))


def _members(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a key comes twice")
    return dict(pairs)


def _refuse(word):
    raise ValueError(f"{word} is not JSON")
