#!/bin/sh
# A FITS file of uint16 depth in millimetres, written by astropy 8.0.2 (numbers in signed form, BZERO = 32768, as
#   the standard says), read by fitsio 1.4.2, Pillow 13.0.0, ImageIO 2.38.1 and OpenImageIO 3.2.2.0.
# Expected: all readers give 500 for 500, perhaps with the rows reversed, as FITS begins at the bottom.
# Seen: astropy and fitsio are right. Pillow (mode I;16) ignores BZERO, so the top bit is inverted:
#   500 becomes 33268, a hole (0) 32768 and 40000 becomes 7232. OpenImageIO (int16) reads 500 as -32268, or as
#   0 if asked for uint16. Both reverse the rows. ImageIO reads d.fits with Pillow, but the same bytes named
#   d.fts with astropy. Nothing is reported. BSCALE is ignored like BZERO: int16
#   with BSCALE = 0.001 gives 500, not 0.5 m. OpenImageIO gives both as metadata, Pillow does not.
#   The manual of OpenImageIO lists UINT16 for FITS, but it writes 500 as the int16 250 without BZERO.
# Output:
#   astropy: right, rows kept | fitsio: right, rows kept | Pillow: top bit, rows turned
#   ImageIO d.fits: top bit, rows turned | ImageIO d.fts: right, rows kept
#   OpenImageIO: minus 32768, rows turned | as uint16: 500 is 0 | it writes 500 as 250
#   scaled 0.5: astropy, fitsio 0.5 | Pillow, OpenImageIO 500
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q astropy==8.0.2 fitsio==1.4.2 pillow==13.0.0 imageio==2.38.1 openimageio==3.2.2.0 \
    numpy==2.4.6
cd "$T"
"$T/v/bin/python" -W ignore - <<'P'
import shutil, sys
import fitsio, imageio.v3 as imageio, numpy as np, OpenImageIO as oiio
from astropy.io import fits
from PIL import Image

depth = np.random.default_rng(1).integers(300, 5000, (48, 64)).astype("u2")
depth[0, :3] = 500, 0, 40000
fits.writeto("d.fits", depth)
shutil.copy("d.fits", "d.fts")
header = fitsio.read_header("d.fits")
wrong = [] if (header["BITPIX"], header["BZERO"]) == (16, 32768) else ["astropy writes another form"]
def with_oiio(path):
    image = oiio.ImageInput.open(path)
    return image.read_image(image.spec().format)[:, :, 0]
def state(a):
    forms = {"right": depth, "top bit": depth ^ 0x8000, "minus 32768": depth.astype("i4") - 32768}
    for rows, b in (("kept", a), ("turned", a[::-1])):
        for name, form in forms.items():
            if np.array_equal(b, form):
                return f"{name}, rows {rows}", b[0, :3].tolist()
    return "other", a[0, :3].tolist()
for name, a, want in (
        ("astropy", fits.getdata("d.fits"), "right, rows kept"),
        ("fitsio", fitsio.read("d.fits"), "right, rows kept"),
        ("Pillow", np.asarray(Image.open("d.fits")), "top bit, rows turned"),
        ("ImageIO d.fits", imageio.imread("d.fits"), "top bit, rows turned"),
        ("ImageIO d.fts", imageio.imread("d.fts"), "right, rows kept"),
        ("OpenImageIO", with_oiio("d.fits"), "minus 32768, rows turned")):
    got, first = state(a)
    print(f"{name}: {got}, {depth[0, :3].tolist()} is {first}")
    if got != want:
        wrong.append(name)

scaled = fits.PrimaryHDU(np.full((48, 64), 0.5))
scaled.scale("int16", bscale=0.001, bzero=0)
scaled.writeto("s.fits")
values = [float(a[0, 0]) for a in (
    fits.getdata("s.fits"), fitsio.read("s.fits"), np.asarray(Image.open("s.fits")), with_oiio("s.fits"))]
print("scaled 0.5: astropy, fitsio, Pillow, OpenImageIO", values)
if values != [0.5, 0.5, 500, 500]:
    wrong.append("scaled")

spec = oiio.ImageInput.open("d.fits").spec()
unsigned = oiio.ImageInput.open("d.fits").read_image("uint16")[-1, :3, 0].tolist()
print("OpenImageIO as uint16:", depth[0, :3].tolist(), "is", unsigned)
if unsigned != [0, 0, 14464]:
    wrong.append("OpenImageIO as uint16")

factor = oiio.ImageInput.open("s.fits").spec().getattribute("Bscale")
info = [Image.open(path).info for path in ("d.fits", "s.fits")]
print("metadata: OpenImageIO", spec.getattribute("Bzero"), round(factor, 6), "| Pillow", info)
if spec.getattribute("Bzero") != 32768 or round(factor, 6) != 0.001 or any(info):
    wrong.append("metadata")

out = oiio.ImageOutput.create("o.fits")
if not (out.open("o.fits", oiio.ImageSpec(64, 48, 1, "uint16")) and out.write_image(depth[:, :, None]) and out.close()):
    wrong.append("OpenImageIO does not write")
written = fits.getdata("o.fits")[::-1]
print("OpenImageIO wrote", depth[0, :3].tolist(), "as", written[0, :3].tolist(), written.dtype.name)
if written[0, :3].tolist() != [250, 0, 20000] or not (np.abs(written * 2.0 - depth) <= 1).all():
    wrong.append("OpenImageIO writes another form")
if wrong:
    print("changed: " + ", ".join(wrong))
    sys.exit(1)
P
echo "as described"
