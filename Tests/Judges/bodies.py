"""Upload bodies for the judges: their bundles, and their contents according to section 1 of Spec/upload.md."""
import base64
import functools
import hashlib
import json
import shutil

from Judges.bench import SAMPLE, TYPE, Bundle, expect

NAMES = {"depth.f32.gz": ("depth_map", "depth.gz"), "photo.jpg": ("photo", "capture.jpg")}
ODD = {"device_model": 'Rig "7"\\ \u00e9\u4e2d\U0001f4f7 \u0001',
       "note": "\r\n--capture-bundle-", "gain": [1e3, 0.1, -0.0]}


class Body:
    """The body of a bundle, and its Content-Type as `--headers` wrote it."""

    def __init__(self, bench, bundle):
        self.bundle = bundle
        self.path = bundle.path.with_suffix(".body")
        self.headers = bundle.path.with_suffix(".headers")
        bench.capbundle("multipart", bundle.path, "-o", self.path, "--headers", self.headers, "--force")
        self.data = self.path.read_bytes()

    @property
    def content_type(self):
        name, value = self.headers.read_text().removesuffix("\n").split(": ")
        expect(name == "Content-Type", f"--headers wrote {name}")
        return value

    @property
    def boundary(self):
        kind, _, boundary = self.content_type.partition("; boundary=")
        expect(kind == "multipart/form-data", f"the type is {kind}")
        return boundary

    def parts(self):
        """Returns (name, filename, type, data) of each part, in order; the metadata part's data is None."""
        entries = self.bundle.entries
        listed = json.loads(self.bundle.manifest)["entries"]
        found = [("metadata", None, "application/json", None),
                 ("manifest", "manifest.json", TYPE.decode(), entries["manifest.json"]),
                 ("assertion.cbor", "assertion.cbor", "application/cbor", entries["assertion.cbor"])]
        for entry in listed:
            path = entry["path"]
            if path in entries:
                name, filename = NAMES.get(path, (path, path.rpartition("/")[2]))
                found.append((name, filename, entry["media_type"], entries[path]))
        return found

    def check_metadata(self, data):
        """Checks the metadata part by section 1.2; numbers are compared by their characters."""
        load = functools.partial(json.loads, parse_int=str, parse_float=str)
        entries = self.bundle.entries
        manifest, own = load(self.bundle.manifest), load(entries["metadata.json"])
        wanted = {"captured_at": manifest["captured_at"], "device_model": own["device_model"],
                  "assertion": base64.b64encode(entries["assertion.cbor"]).decode()}
        photo = next(entry for entry in manifest["entries"] if entry["path"] == "photo.jpg")
        wanted["photo_hash"] = base64.b64encode(bytes.fromhex(photo["sha256"])).decode()
        if "photo.jpg" in entries:
            expect(hashlib.sha256(entries["photo.jpg"]).hexdigest() == photo["sha256"], "the photo has another hash")
        if "depth" in manifest:
            wanted["depth_map_dimensions"] = {name: manifest["depth"][name] for name in ("height", "width")}
        if "location.json" in entries:
            position = load(entries["location.json"])
            wanted["location"] = {name: position[name] for name in ("latitude", "longitude", "altitude", "accuracy")
                                  if position.get(name) is not None}
        found = load(data)
        different = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
        expect(not different, f"the metadata part: {different} are not as section 1.2 says")
        expect(list(found) == sorted(found) and len(data) <= 16384, "the metadata part is not canonical, or too long")


def nasty_photo():
    """Returns a photo whose scan contains many bytes that a lax parser could take for a boundary."""
    photo = (SAMPLE / "photo.jpg").read_bytes()
    words = b"\r\n--\r\n--capture-bundle-\r\n" + b"\r\n--capture-bundle-" + b"0" * 40 + b"--\r\n" + b"\r\r\n\n--" * 9
    return photo[:-2] + words * 60_000 + b"\xff\xd9"


def raw_folder(bench, name, photo=None, **members):
    """Returns the sample with another photo, or with other members in metadata.json."""
    raw = bench.folder / name
    if not raw.exists():
        shutil.copytree(SAMPLE, raw)
        metadata = json.loads((raw / "metadata.json").read_text()) | members
        (raw / "metadata.json").write_text(json.dumps(metadata))
        if photo:
            (raw / "photo.jpg").write_bytes(photo)
    return raw


def bodies(bench):
    """Returns bodies by name: with and without each optional part, with odd texts, and with a large photo."""
    if not hasattr(bench, "bodies"):
        plain = bench.pack()
        withheld = bench.write("withheld-location.bundle", plain.without("location.json"))
        bundles = {
            "plain": plain, "no depth": bench.pack("no-depth", SAMPLE, "--no-depth"),
            "no position": bench.pack("omitted", SAMPLE, "--location", "omit"),
            "coarse position": bench.pack("coarse", SAMPLE, "--location", "coarse"),
            "position withheld": Bundle(withheld),
            "odd texts": bench.pack("odd-texts", raw_folder(bench, "odd-texts", **ODD)),
            "boundaries in the photo": bench.pack("nasty", raw_folder(bench, "nasty", nasty_photo())),
        }
        bench.bodies = {name: Body(bench, bundle) for name, bundle in bundles.items()}
    return bench.bodies
