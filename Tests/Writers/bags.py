"""Samples/rosbag: bags that the library rosbags writes become raw folders with the same samples."""
import io
import json
import struct
import sys

import numpy as np
from PIL import Image
from rosbags import rosbag1, rosbag2
from rosbags.typesys import Stores, get_typestore

from Kit.outcomes import ROOT, expect
from Writers.bench import METRES, MILLIMETRES, metres, photo, same

PROGRAM = ROOT / "Samples/rosbag/frames.py"
BEGIN = 1_773_497_366_333_000_000  # 2026-03-14
ONE, TWO = get_typestore(Stores.ROS1_NOETIC), get_typestore(Stores.ROS2_HUMBLE)
RGB = np.stack([np.tile(np.arange(48), (64, 1)), np.tile(np.arange(64)[:, None], (1, 48)), np.full((64, 48), 7)], -1).astype("u1")


def png(codes):
    made = io.BytesIO()
    Image.fromarray(codes).save(made, "PNG")
    return made.getvalue()


class Messages:
    """Makes messages of ROS 1 or ROS 2, with a stamp."""

    def __init__(self, store):
        self.store, self.types = store, store.types

    def header(self, time):
        more = {"seq": 0} if self.store is ONE else {}
        stamp = self.types["builtin_interfaces/msg/Time"](sec=time // 10**9, nanosec=time % 10**9)
        return self.types["std_msgs/msg/Header"](stamp=stamp, frame_id="", **more)

    def image(self, array, encoding, time, pad=0):
        lines = np.ascontiguousarray(array).view("u1").reshape(len(array), -1)
        lines = np.pad(lines, [(0, 0), (0, pad)])
        return self.types["sensor_msgs/msg/Image"](
            header=self.header(time), height=len(array), width=array.shape[1], encoding=encoding, is_bigendian=0,
            step=lines.shape[1], data=lines.reshape(-1))

    def compressed(self, data, words, time):
        return self.types["sensor_msgs/msg/CompressedImage"](
            header=self.header(time), format=words, data=np.frombuffer(data, "u1"))


def write(bench, kind, make, others=()):
    """Writes a bag of three photos and depth maps. `make` gives the messages of one time."""
    bench.count += 1
    path, store = bench.home / f"bag-{bench.count}{'.bag' if kind == 'ros1' else ''}", ONE if kind == "ros1" else TWO
    plugin = {"mcap": rosbag2.StoragePlugin.MCAP, "sqlite": rosbag2.StoragePlugin.SQLITE3}.get(kind)
    with rosbag1.Writer(path) if kind == "ros1" else rosbag2.Writer(path, version=9, storage_plugin=plugin) as writer:
        topics, maker = {}, Messages(store)
        for topic, time, message in [*others, *(each for index in range(3) for each in make(maker, index))]:
            name = message.__msgtype__
            topics[topic] = topics.get(topic) or writer.add_connection(topic, name, typestore=store)
            data = store.serialize_ros1(message, name) if store is ONE else store.serialize_cdr(message, name)
            writer.write(topics[topic], time, data)
    return path


def frames(bench, bag, *options, code=0):
    bench.count += 1
    out = bench.home / f"frames-{bench.count}"
    done = bench.call(sys.executable, PROGRAM, bag, "-o", out, "--model", "Rig", *options)
    expect(done.code == code, f"frames.py ended with {done.code}: {done.text[-400:]!r}")
    return sorted(out.iterdir()) if code == 0 else [], done


def check(bench, bag, floats, *options, begin=BEGIN, within=()):
    raws, done = frames(bench, bag, *within)
    wanted = [str((begin + index * 10**8) // 10**6) for index in range(3)]
    expect([raw.name for raw in raws] == wanted, f"has {[raw.name for raw in raws]}, expected {wanted}")
    scale = done.out.decode().split(" --depth-scale ")[1:]
    for raw in raws:
        expect((raw / "photo.jpg").is_file(), "there is no photo.jpg")
        found, _ = bench.packed(raw, *(["--depth-scale", scale[0].split()[0]] if scale else []))
        same(found, floats)
    return done


def forms(bench):
    for kind in ("ros1", "sqlite", "mcap"):
        def plain(maker, index, depth=MILLIMETRES, name="16UC1", pad=0):
            time = BEGIN + index * 10**8
            return [("/color", time, maker.image(RGB, "rgb8", time)),
                    ("/depth", time + 3, maker.image(depth, name, time + 5 * 10**6, pad))]
        check(bench, write(bench, kind, plain), metres(MILLIMETRES))
        check(bench, write(bench, kind, lambda maker, index: plain(maker, index, METRES, "32FC1", 8)), METRES)

        def packed(maker, index):
            time = BEGIN + index * 10**8
            return [("/color/compressed", time, maker.compressed(photo(), "rgb8; jpeg compressed bgr8", time)),
                    ("/depth/compressedDepth", time, maker.compressed(
                        struct.pack("<iff", 0, 0, 0) + png(MILLIMETRES), "16UC1; compressedDepth png", time))]
        bag = write(bench, kind, packed)
        check(bench, bag, metres(MILLIMETRES))
        expect((frames(bench, bag)[0][0] / "photo.jpg").read_bytes() == photo(), "the JPEG of the camera was changed")

    def inverse(maker, index):
        time = BEGIN + index * 10**8
        codes = np.where(METRES > 0, np.round(100 / np.maximum(METRES, 1) + 5), 0).astype("u2")
        return [("/color", time, maker.image(RGB, "bgr8", time)), ("/depth", time, maker.compressed(
            struct.pack("<iff", 0, 100, 5) + png(codes), "32FC1; compressedDepth png", time))]
    codes = np.where(METRES > 0, np.round(100 / np.maximum(METRES, 1) + 5), 0).astype("f4")
    with np.errstate(divide="ignore"):
        expected = np.where(codes > 0, np.float32(100) / (codes - np.float32(5)), np.float32(0))
    check(bench, write(bench, "mcap", inverse), expected)


def pairs(bench):
    def apart(maker, index):
        time = BEGIN + index * 10**8
        return [("/color", time, maker.image(RGB, "rgb8", time)),
                ("/depth", time, maker.image(MILLIMETRES + index, "16UC1", time + 30 * 10**6))]
    bag = write(bench, "mcap", apart)
    raws, done = frames(bench, bag)
    expect(raws == [] and "0 of 3 photos" in done.text, f"pairs of 30 ms were taken: {done.text!r}")
    raws, _ = frames(bench, bag, "--within", "30")
    arrays = [np.load(raw / "depth.npy") for raw in raws]
    expect(all((array == MILLIMETRES + index).all() for index, array in enumerate(arrays)) and len(raws) == 3, "other pairs")
    facts = json.loads((raws[1] / "metadata.json").read_text())
    expect(facts == {"captured_at": "2026-03-14T14:09:26.433+00:00", "device_model": "Rig"}, str(facts))
    done = frames(bench, bag, "--color", "/other", code=1)[1]
    expect("name a topic with --color: /color" in done.text, done.text)


def realsense(bench):
    text = TWO.types["std_msgs/msg/String"]

    def counted(maker, index):
        time = 10**9 + index * 10**8
        return [("/device_0/sensor_1/Color_0/image/data", time, maker.image(RGB, "rgb8", time)),
                ("/device_0/sensor_0/Depth_0/image/data", time, maker.image(MILLIMETRES, "mono16", time))]
    unit = ("/device_0/sensor_0/option/Depth_Units/value", 1, text(data="0.000250"))
    clock = ("/device_0/sensor_1/Color_0/image/metadata", 10**9, text(data=f"Time Of Arrival: {BEGIN // 10**6}"))
    check(bench, write(bench, "sqlite", counted, [unit, clock]), metres(MILLIMETRES, 4000))
    bag = write(bench, "sqlite", counted, [unit])
    done = frames(bench, bag, code=1)[1]
    expect("give the time of its first photo with --start" in done.text, done.text)
    check(bench, bag, metres(MILLIMETRES, 4000), within=("--start", "2026-03-14T15:09:26.333+01:00"))
    units = ("/device_0/sensor_0/option/Depth Units/value", BEGIN, ONE.types["std_msgs/msg/Float32"](data=9.999999747378752e-05))

    def stamped(maker, index):
        time = BEGIN + index * 10**8
        return [("/color", time, maker.image(RGB, "rgb8", time)), ("/depth", time, maker.image(MILLIMETRES, "16UC1", time))]
    check(bench, write(bench, "ros1", stamped, [units]), metres(MILLIMETRES, 10000))


TESTS = [("ROS 1, SQLite and MCAP, plain and compressed", forms), ("the nearest pairs within a limit", pairs),
         ("the clock and the unit of RealSense recordings", realsense)]
