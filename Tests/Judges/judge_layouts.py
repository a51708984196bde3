"""Compares the bundles that pack makes of the exports of Samples/layouts with what numpy, Pillow and OpenEXR read.

The exports of the apps also become upload bodies, from which the same bundles are restored.
"""
import datetime
import functools
import gzip
import json
import shutil
import sys

import numpy as np

from Judges import exports
from Judges.bench import IS_LONG, ROOT, Bundle, Skipped, expect
from Kit.outcomes import every

sys.path.append(str(ROOT / "Samples/layouts"))
import make  # noqa: E402  (the line above makes it importable)

APPS = {"3d-scanner-app": exports.scanner_app, "record3d": exports.record3d, "polycam": exports.polycam,
        "nerfstudio": exports.nerfstudio, "generic": exports.generic, "realitycam": exports.realitycam}
# One encoding for each decoder; the Swift tests of DepthEncoding read all.
SHORT = {f"encoding-{name}" for name in
         ("f32", "gz", "zlib", "deflate", "npy-f2", "pfm-big", "pgm-u16", "png-u16-scale", "exr-f16",
          "tiff-f32-deflated")}


def samples(bench, name):
    """Returns the path of a sample and the options of pack; all are made once."""
    folder = bench.folder / "layouts"
    if not folder.is_dir():
        make.main(folder)
    listed = {one["raw"]: one["options"] for one in json.loads((folder / "samples.json").read_text())}
    return folder / name, listed[name]


def packed(bench, raw, options, *more, is_whole=True):
    """Packs a sample, and returns its bundles by name. If it `is_whole`, both implementations verify them, and their
    upload bodies give the same bundles back; in the short form, that is shown of the first bundle."""
    folder = bench.scratch("layouts-packed")
    bench.capbundle("pack", raw, "--out-dir", folder, *options, *more)
    bundles = {path.name: Bundle(path) for path in sorted(folder.glob("*.bundle"))}
    for name, bundle in list(bundles.items())[:(None if IS_LONG else 1) if is_whole else 0]:
        bench.agree(bundle.path, name, 0)
        body, back = folder / "body", folder / "back"
        bench.capbundle("multipart", bundle.path, "-o", body, "--force")
        bench.capbundle("from-body", body, "-o", back, "--force")
        expect(back.read_bytes() == bundle.data, f"{name}: the body gives another bundle")
    return bundles


def same_floats(name, bundle, expected):
    size = json.loads(bundle.manifest)["depth"]
    expect((size["height"], size["width"]) == expected.shape, f"{name}: another size")
    floats = np.frombuffer(gzip.decompress(bundle.entries["depth.f32.gz"]), "<f4").reshape(expected.shape)
    # Compare bits: NaN equals nothing, and 0 must not become -0.
    same = floats.view("<u4") == np.ascontiguousarray(expected).view("<u4")
    both_missing = np.isnan(floats) & np.isnan(expected)
    expect((same | both_missing).all(), f"{name}: {np.count_nonzero(~same & ~both_missing)} floats differ")


def same_facts(name, bundle, frame):
    manifest, metadata = json.loads(bundle.manifest), json.loads(bundle.entries["metadata.json"])
    late = frame.time - datetime.datetime.fromisoformat(manifest["captured_at"])
    expect(abs(late) <= datetime.timedelta(milliseconds=1), f"{name}: captured at {manifest['captured_at']}")
    expect(metadata["device_model"] == frame.model, f"{name}: model {metadata['device_model']}")
    source = manifest["depth"]["source"]
    expect(source["encoding"] == frame.encoding, f"{name}: encoding {source['encoding']}")
    expect(float(source["scale"]) == frame.scale, f"{name}: scale {source['scale']}")
    expect(source["row_order"] == ("bottom-first" if frame.encoding == "pfm" else "top-first"), f"{name}: row order")
    kept = {key: value for key, value in json.loads(bundle.entries.get("location.json", "{}")).items()
            if key not in ("salt", "pad")}
    expect(kept == (frame.position or {}), f"{name}: position {kept}")
    same_camera(name, metadata, frame)


def same_camera(name, metadata, frame):
    camera, pose = metadata.get("camera_intrinsics"), metadata.get("camera_pose")
    expect((camera is None) == (frame.camera is None), f"{name}: camera {camera}")
    expect((pose is None) == (frame.pose is None), f"{name}: pose {pose}")
    if camera:
        found = tuple(camera[key] for key in ("fx", "fy", "cx", "cy", "width", "height"))
        expect(found == frame.camera, f"{name}: camera {found}, expected {frame.camera}")
    if pose:
        expect(len(pose["matrix"]) == 16 and np.abs(np.array(pose["matrix"]) - frame.pose).max() < 1e-12,
               f"{name}: pose {pose['matrix']}")


def same_frames(bench, raw, options, frames, stem, is_whole=True):
    bundles = packed(bench, raw, options, is_whole=is_whole)
    names = {f"{stem}-{frame.name}.bundle" if frame.name else f"{stem}.bundle": frame for frame in frames}
    expect(bundles.keys() == names.keys(), f"bundles {sorted(bundles)}, expected {sorted(names)}")
    for name, frame in names.items():
        bundle = bundles[name]
        expect(bundle.entries["photo.jpg"] == frame.photo.read_bytes(), f"{name}: another photo")
        same_floats(name, bundle, frame.metres())
        same_facts(name, bundle, frame)
        confidence = frame.confidence.read_bytes() if frame.confidence else None
        expect(bundle.entries.get("confidence.png") == confidence, f"{name}: another confidence map")
        expect(not [entry for entry in bundle.entries if entry.startswith("source/")], f"{name}: has source entries")


def app(name, bench):
    raw, options = samples(bench, name)
    same_frames(bench, raw, options, list(APPS[name](raw)), name)


def sources(name, bench):
    raw, options = samples(bench, name)
    bundles = packed(bench, raw, options, "--keep-source", is_whole=IS_LONG).values()
    for frame, bundle in zip(APPS[name](raw), bundles, strict=True):
        files = {path.read_bytes() for path in (frame.depth, *frame.carried)}
        found = {data for entry, data in bundle.entries.items() if entry.startswith("source/")}
        expect(files <= found, f"{bundle.path.name}: a file of the app is not in source/")


def archives(bench):
    folder, _ = samples(bench, "3d-scanner-app")
    for ending in ("zip", "tar", "tar.gz"):
        raw, options = samples(bench, f"3d-scanner-app.{ending}")
        same_frames(bench, raw, options, list(exports.scanner_app(folder)), "3d-scanner-app", is_whole=IS_LONG)


def encodings(bench):
    def judge(name, _):
        raw, options = samples(bench, name)
        same_frames(bench, raw, options, list(exports.encoding(raw, options)), name, is_whole=IS_LONG)

    names = [name for name, _, _ in make.samples() if name.startswith("encoding-")]
    every(dict.fromkeys(names if IS_LONG else [name for name in names if name in SHORT]), judge)


def portrait(bench):
    raw, options = samples(bench, "portrait.jpg")
    bundle = portrait_bundle(bench, raw, options, exports.portrait(raw))
    expect(bundle.entries["photo.jpg"] == raw.read_bytes(), "another photo")


def portrait_heic(bench):
    if not shutil.which("heif-enc"):
        raise Skipped("heif-enc is not here (Debian: libheif-examples)")
    raw, options = samples(bench, "portrait.heic")
    folder = bench.scratch("layouts-heic")
    bench.run("heif-convert", "--with-aux", raw, folder / "photo.png")
    codes = next(folder.glob("photo-depth*.png"))
    said = bench.run("heif-info", raw).out.decode()
    least, most = (float(said.partition(f"d-{which}:")[2].split()[0]) for which in ("min", "max"))
    bundle = portrait_bundle(bench, raw, options, exports.from_disparity(exports.read(codes)[..., 0], least, most))
    expect(bundle.entries["source/photo.heic"] == raw.read_bytes(), "the original is not carried")
    folder.joinpath("photo.jpg").write_bytes(bundle.entries["photo.jpg"])
    far = exports.difference(folder / "photo.jpg", folder / "photo.png")
    expect(far < 2, f"the JPEG differs from the picture that heif-convert decodes by {far:.1f} levels")


def portrait_bundle(bench, raw, options, expected):
    [(name, bundle)] = packed(bench, raw, options).items()
    same_floats(name, bundle, expected)
    manifest, metadata = json.loads(bundle.manifest), json.loads(bundle.entries["metadata.json"])
    expect(manifest["captured_at"] == "2026-03-14T14:09:26.000Z", f"captured at {manifest['captured_at']}")
    expect(metadata["device_model"] == "Synthetic Portrait camera", f"model {metadata['device_model']}")
    expect(manifest["depth"]["source"]["encoding"] == "apple-disparity-u8", "another encoding")
    return bundle


TESTS = [
    *((f"the {name} sample packs to what its files say, and its body restores the bundle", functools.partial(app, name))
      for name in APPS),
    *((f"--keep-source carries the files of the {name} sample", functools.partial(sources, name))
      for name in ("3d-scanner-app", "record3d", "polycam", "nerfstudio")),
    ("each encoding of a depth map becomes the floats that numpy, Pillow and OpenEXR read", encodings),
    ("an export in a zip, tar or tar.gz archive becomes the same bundles", archives),
    ("a portrait JPEG becomes the floats of its disparity", portrait),
    ("a portrait HEIC becomes a JPEG, the floats of its disparity, and keeps the original", portrait_heic),
]
