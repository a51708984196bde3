#!/bin/sh
# rosbags-image 0.10.4 (opencv 5.0.0), turning ROS image messages with depth into arrays: sensor_msgs/Image with
#   16UC1 or 32FC1, and sensor_msgs/CompressedImage with a 16-bit PNG ("16UC1; png compressed").
# Expected: step, the length of a row in bytes, counts, as the message defines it: drivers pad rows to 16
#   or 64 bytes. A 16-bit PNG gives 16-bit numbers.
# Seen: step is not used. With padding the rows come from the wrong places: each begins earlier than it
#   should by the padding of the rows above, the padding lies among the depths, and the last rows are
#   missing. Only the first row is right, and no error is raised. The field is_bigendian beside it is
#   obeyed. The PNG comes back as 8 bits: 5000 mm is 19 mm.
# Output:
#   16UC1 unpadded: 30 of 30 rows right | padded: 1, and 156 zeros of padding | big-endian: 30
#   32FC1 unpadded: 30 of 30 rows right | padded: 1, and 56 zeros of padding | PNG: uint8, 5000 reads 19
set -eu
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 -m venv "$T/v"
"$T/v/bin/pip" install -q rosbags-image==0.10.4 rosbags==0.11.9 opencv-python-headless==5.0.0.93 numpy==2.4.6
cd "$T"
"$T/v/bin/python" - <<'P'
import sys
import cv2, numpy as np
from rosbags.image import message_to_cvimage
from rosbags.typesys import Stores, get_typestore

types = get_typestore(Stores.ROS2_HUMBLE).types
header = types["std_msgs/msg/Header"](types["builtin_interfaces/msg/Time"](0, 0), "camera")
depth = np.random.default_rng(1).integers(300, 6000, (30, 42)).astype(np.uint16)
depth[0, 0] = 5000
def image(a, encoding, padding, bigendian=0):
    rows = a.astype(a.dtype.newbyteorder(">" if bigendian else "<")).view(np.uint8)
    rows = np.pad(rows, ((0, 0), (0, padding)))
    message = types["sensor_msgs/msg/Image"](header, 30, 42, encoding, bigendian, rows.shape[1], rows.ravel())
    b = message_to_cvimage(message)
    return b.shape, int((a == b).all(axis=1).sum()), int((b == 0).sum())
got = {
    "16UC1 unpadded": image(depth, "16UC1", 0),
    "16UC1 padded": image(depth, "16UC1", 12),  # 84 + 12 is a multiple of 16
    "16UC1 big-endian": image(depth, "16UC1", 0, 1),
    "32FC1 unpadded": image((depth / 1000).astype(np.float32), "32FC1", 0),
    "32FC1 padded": image((depth / 1000).astype(np.float32), "32FC1", 8),
}
for name, (_, rows, zeros) in got.items():
    print(f"{name}: {rows} of 30 rows right, {zeros} zeros among the depths")
png = cv2.imencode(".png", depth)[1]
if not np.array_equal(cv2.imdecode(png, cv2.IMREAD_UNCHANGED), depth):
    sys.exit("changed: OpenCV does not give the PNG back")
b = message_to_cvimage(types["sensor_msgs/msg/CompressedImage"](header, "16UC1; png compressed", png.ravel()))
got["PNG"] = (b.shape, str(b.dtype), int(b[0, 0]))
print(f"PNG: {b.dtype}, 5000 reads {b[0, 0]}")
want = {"16UC1 unpadded": (30, 0), "16UC1 padded": (1, 156), "16UC1 big-endian": (30, 0), "32FC1 unpadded": (30, 0),
        "32FC1 padded": (1, 56), "PNG": ("uint8", 19)}
wrong = [f"{name}: {got[name]}" for name in want if got[name] != ((30, 42), *want[name])]
if wrong:
    print("changed: " + "; ".join(wrong))
    sys.exit(1)
P
echo "as described"
