"""OpenEXR by its own library and Blender."""
import subprocess

import numpy as np
import OpenEXR

from Kit.outcomes import ROOT, expect, long
from Writers.bench import METRES

HALF = METRES.astype("f2")
HOLES = np.where(METRES == 0, np.float32(np.nan), METRES)


def exr(channels, **header):
    def write(path):
        header.setdefault("compression", OpenEXR.ZIP_COMPRESSION)
        with OpenEXR.File({"type": OpenEXR.scanlineimage} | header, channels) as made:
            made.write(path)
    return write


def parts(*named):
    def write(path):
        head = {"type": OpenEXR.scanlineimage, "compression": OpenEXR.ZIP_COMPRESSION}
        with OpenEXR.File([OpenEXR.Part(dict(head), channels, name) for name, channels in named]) as made:
            made.write(path)
    return write


def lossless(bench):
    for compression in (OpenEXR.NO_COMPRESSION, OpenEXR.RLE_COMPRESSION, OpenEXR.ZIPS_COMPRESSION,
                        OpenEXR.ZIP_COMPRESSION, OpenEXR.PIZ_COMPRESSION):
        for kind in (OpenEXR.scanlineimage, OpenEXR.tiledimage):
            for floats in (HOLES, HALF):
                bench.gives("depth.exr", exr({"Z": floats}, compression=compression, type=kind,
                                             **({"tiles": OpenEXR.TileDescription()} if kind == OpenEXR.tiledimage else {})),
                            floats.astype("f4"))


def lossy(bench):
    half = HALF.copy()
    half[0, 0] = np.nan
    _, said = bench.packed(bench.raw("depth.exr", exr({"Z": half}, compression=OpenEXR.B44_COMPRESSION)))
    expect("below 0.000062, one may have been 0 or NaN" in said, f"nothing is said about B44: {said!r}")
    _, said = bench.packed(bench.raw("depth.exr", exr({"Z": METRES}, compression=OpenEXR.PXR24_COMPRESSION)))
    expect("PXR24, which keeps 24 of 32 bits" in said, f"nothing is said about PXR24: {said!r}")
    bench.gives("depth.exr", exr({"Z": METRES}, compression=OpenEXR.B44_COMPRESSION), METRES)
    for name in ("DWAA", "DWAB", "HTJ2K256", "HTJ2K32"):
        code = getattr(OpenEXR, f"{name}_COMPRESSION")
        bench.refused("depth.exr", exr({"Z": METRES}, compression=code), f"compression {name}, which is not read; write it with ZIP")


def crops(bench):
    def box(*sides):
        return np.array(sides[:2], "i4"), np.array(sides[2:], "i4")
    whole = np.zeros((256, 192), "f4")
    whole[96:160, 72:120] = METRES
    bench.gives("depth.exr", exr({"Z": METRES}, dataWindow=box(72, 96, 119, 159), displayWindow=box(0, 0, 191, 255)), whole,
                said=f"{256 * 192 - 64 * 48} samples outside of its data window")
    bench.gives("depth.exr", exr({"Z": METRES}, dataWindow=box(62, 86, 109, 149), displayWindow=box(-10, -10, 181, 245)), whole)
    bench.gives("depth.exr", exr({"Z": METRES}, dataWindow=box(-1, 0, 46, 63), displayWindow=box(0, 0, 46, 63)), METRES)


def channels(bench):
    for floats in (METRES, HOLES, HALF):
        bench.gives("depth.exr", exr({"RGB": np.dstack([floats] * 3)}), floats.astype("f4"))
        bench.gives("depth.exr", exr({"RGBA": np.dstack([floats] * 3 + [floats * 0 + 1])}), floats.astype("f4"))
    differs = np.dstack([METRES] * 3)
    differs[3, 3, 1] += 1
    write = exr({"RGB": differs, "Z": METRES, "ViewLayer.Depth.V": METRES + 1})
    bench.refused("depth.exr", write, "--depth-channel Z")
    bench.refused("depth.exr", write, "has no channel Y", "--depth-channel", "Y")
    bench.gives("depth.exr", write, METRES, "--depth-channel", "Z")
    bench.gives("depth.exr", write, METRES + 1, "--depth-channel", "ViewLayer.Depth.V")
    several = parts(("left", {"Z": METRES}), ("right", {"Z": METRES + 2}))
    bench.refused("depth.exr", several, "--depth-channel left.Z")
    bench.refused("depth.exr", several, "has more than one channel Z", "--depth-channel", "Z")
    bench.gives("depth.exr", several, METRES + 2, "--depth-channel", "right.Z")
    sky = np.where(METRES == 0, np.float32(1e10), METRES)
    bench.gives("depth.exr", exr({"Z": sky}), METRES, "--depth-invalid", "above=1e9", said="100 samples above 1000000000")


SCENE = """
import sys
import bpy
scene = bpy.context.scene
scene.render.engine, scene.cycles.samples, scene.cycles.device = "CYCLES", 1, "CPU"
scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = 64, 48, 100
scene.render.filepath, scene.render.image_settings.media_type = sys.argv[-1], "MULTI_LAYER_IMAGE"
scene.render.image_settings.file_format = "OPEN_EXR_MULTILAYER"
scene.render.image_settings.color_depth = "32"
bpy.context.view_layer.use_pass_z = True
bpy.ops.render.render(write_still=True)
"""


@long
def blender(bench):
    path = bench.home / "render.exr"
    python = subprocess.run([ROOT / ".ci/environment", "Blender"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run([python, "-c", SCENE, str(path)], check=True, capture_output=True, timeout=600)
    with OpenEXR.File(str(path), separate_channels=True) as file:
        found = {f"{part.name()}: {name}": (name, channel.pixels) for part in file.parts
                 for name, channel in part.channels.items() if ".Depth." in name or "Depth" in part.name()}
    expect(len(found) == 1, f"Blender wrote the depth channels {list(found)}")
    name, floats = next(iter(found.values()))

    def write(target):
        with open(target, "wb") as file:
            file.write(path.read_bytes())
    bench.refused("depth.exr", write, f"--depth-channel {name}")
    bench.gives("depth.exr", write, floats, "--depth-channel", name)
    bench.gives("depth.exr", write, np.where(floats > 1e9, 0, floats), "--depth-channel", name, "--depth-invalid", "above=1e9")


TESTS = [("without loss, in lines and tiles", lossless), ("what a compression loses is said", lossy),
         ("a crop is placed in the whole picture", crops), ("several channels and parts", channels),
         ("the multilayer render of Blender", blender)]
