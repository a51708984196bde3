#!/usr/bin/env python3
"""Makes raw folders for `capbundle pack` of a ROS bag: each photo with the depth map that is nearest in time.

    frames.py BAG -o FOLDER --model NAME [--color TOPIC] [--depth TOPIC] [--within MS] [--unit METRES] [--start TIME]

BAG is a bag of ROS 1, or the folder of one of ROS 2 (SQLite or MCAP). Without topics, the only pictures with and without
depth are taken. Integers are in the unit that a RealSense camera recorded, or in millimetres (REP 117).
"""
import argparse
import datetime
import io
import itertools
import json
import pathlib
import re
import struct
import sys

import numpy as np
from PIL import Image
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

PICTURES = ("sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage")
CHANNELS = {"rgb8": "RGB", "bgr8": "BGR", "rgba8": "RGBA", "bgra8": "BGRA", "mono8": "L", "8UC1": "L", "8UC3": "BGR"}
DEPTHS = {"16UC1": "u2", "mono16": "u2", "32FC1": "f4"}
YEAR_2000, YEAR_2100 = 946_684_800 * 10**9, 4_102_444_800 * 10**9


def refuse(text):
    sys.exit(f"frames.py: {text}")


def stamp(message, logged):
    """The time of a picture in nanoseconds: that of its header, unless it is empty."""
    return message.header.stamp.sec * 10**9 + message.header.stamp.nanosec or logged


def rows(message, dtype, channels=1):
    """The samples of a picture, whose rows may be longer than they need to be."""
    kind = np.dtype(dtype).newbyteorder(">" if message.is_bigendian else "<")
    lines = np.frombuffer(message.data, "u1").reshape(message.height, message.step)
    lines = np.ascontiguousarray(lines[:, :message.width * channels * kind.itemsize])
    return lines.view(kind).reshape(message.height, message.width, channels)


def photo(connection, message):
    """The name and the bytes of the photo: as the camera compressed it, or a JPEG of quality 95."""
    if connection.msgtype == PICTURES[1]:
        data = bytes(message.data)
        return "photo.png" if data.startswith(b"\x89PNG") else "photo.jpg", data
    order = CHANNELS.get(message.encoding)
    if not order:
        refuse(f"{connection.topic}: pictures of the encoding {message.encoding!r} are not known")
    samples = rows(message, "u1", len(order))
    if order.startswith("BGR"):
        samples = samples[:, :, [2, 1, 0]]
    made = io.BytesIO()
    Image.fromarray(samples[:, :, 0] if order == "L" else samples[:, :, :3]).save(made, "JPEG", quality=95)
    return "photo.jpg", made.getvalue()


def depth(connection, message):
    """The samples as the camera wrote them: 16-bit integers, or floats in metres."""
    if connection.msgtype == PICTURES[0]:
        return rows(message, DEPTHS[message.encoding])[:, :, 0].astype(DEPTHS[message.encoding])
    # A header of 12 bytes comes before the PNG: a number, and the two that say what its codes mean for floats.
    data = bytes(message.data)
    if not data[12:].startswith(b"\x89PNG"):
        refuse(f"{connection.topic}: its compressedDepth has no PNG after 12 bytes (RVL is not read)")
    codes = np.asarray(Image.open(io.BytesIO(data[12:])), "u2")
    if not message.format.startswith("32FC1"):
        return codes
    _, a, b = struct.unpack("<iff", data[:12])
    with np.errstate(divide="ignore"):
        metres = np.float32(a) / (codes.astype("f4") - np.float32(b))
    return np.where(codes == 0, np.float32(0), metres)


def nearest(photos, depths, within):
    """Of all pairs that are near enough, the nearest first; each picture is used once."""
    depths, pairs, first = sorted(depths), [], 0
    for time in sorted(photos):
        while first < len(depths) and depths[first] < time - within:
            first += 1
        for other in itertools.takewhile(lambda other: other <= time + within, depths[first:]):
            pairs.append((abs(other - time), time, other))
    matched, used = {}, set()
    for _, time, other in sorted(pairs):
        if time not in matched and other not in used:
            matched[time] = other
            used.add(other)
    return matched


class Bag:
    def __init__(self, reader, options):
        self.reader, self.options = reader, options
        pictures = [each for each in reader.connections if each.msgtype in PICTURES and each.msgcount]
        firsts = {each.topic: next(self.messages([each]))[2] for each in pictures}
        deep = {topic: getattr(first, "encoding", "") in DEPTHS or "compressedDepth" in getattr(first, "format", "")
                for topic, first in firsts.items()}
        self.color = self.choose([topic for topic in deep if not deep[topic]], options.color, "--color")
        self.depth = self.choose([topic for topic in deep if deep[topic]], options.depth, "--depth")
        self.offset, self.unit = self.start(), self.unit_of_depth()

    def messages(self, connections, title=""):
        total = sum(each.msgcount for each in connections)
        for done, (connection, logged, data) in enumerate(self.reader.messages(connections), 1):
            yield connection, logged, self.reader.deserialize(data, connection.msgtype)
            if title and sys.stderr.isatty():
                print(f"\r{title} [{'#' * (30 * done // total):<30}] {done}/{total}", end="\n" * (done == total), file=sys.stderr)

    @staticmethod
    def choose(found, wanted, option):
        if wanted in found or wanted is None and len(found) == 1:
            return wanted or found[0]
        refuse(f"name a topic with {option}: {', '.join(found) or 'the bag has none'}")

    def start(self):
        """What is added to all times. Some recordings count from their beginning, and have the camera's time as text."""
        pictures = [each for each in self.reader.connections if each.topic == self.color]
        _, logged, message = next(self.messages(pictures))
        begin = stamp(message, logged)
        if YEAR_2000 <= begin < YEAR_2100:
            return 0
        if self.options.start:
            return int(self.options.start.timestamp() * 1000) * 10**6 - begin
        texts = [each for each in self.reader.connections if each.msgtype.endswith(("/String", "/KeyValue"))]
        for _, logged, text in self.messages(texts) if texts else ():
            words = f"{getattr(text, 'key', '')} {getattr(text, 'value', getattr(text, 'data', ''))}"
            found = re.search(r"(?<!\d)(\d{13})(?:\.\d+)?(?!\d)", words)
            if found and YEAR_2000 <= int(found[1]) * 10**6 < YEAR_2100:
                return int(found[1]) * 10**6 - logged
        refuse("its times count from its beginning: give the time of its first photo with --start")

    def unit_of_depth(self):
        if self.options.unit:
            return self.options.unit
        units = [each for each in self.reader.connections if re.search(r"depth.units", each.topic, re.I)]
        for _, _, message in self.messages(units) if units else ():
            found = re.search(r"\d+\.\d+|\de-\d+", str(getattr(message, "data", "")))
            if found:
                return f"{float(str(message.data)):.7f}".rstrip("0")
        return "0.001"

    def write(self, folder):
        """Writes a folder for each pair, in two passes over the bag: one for the times, and one for the pictures."""
        pictures = [each for each in self.reader.connections if each.topic in (self.color, self.depth)]
        times = {self.color: [], self.depth: []}
        for each, logged, message in self.messages(pictures, "times"):
            times[each.topic].append(stamp(message, logged))
        matched = nearest(times[self.color], times[self.depth], round(self.options.within * 10**6))
        photos = {other: time for time, other in matched.items()}
        integers = set()
        for each, logged, message in self.messages(pictures, "frames"):
            own = stamp(message, logged)
            time = photos.get(own) if each.topic == self.depth else own if own in matched else None
            if time is None:
                continue
            name = str((time + self.offset) // 10**6)
            part = folder / f".{name}.part"
            part.mkdir(exist_ok=True)
            if each.topic == self.color:
                file, data = photo(each, message)
                (part / file).write_bytes(data)
            else:
                samples = depth(each, message)
                integers |= {samples.dtype.kind == "u"}
                np.save(part / "depth.npy", samples)
            if len(list(part.iterdir())) == 2:
                moment = datetime.datetime.fromtimestamp((time + self.offset) // 10**6 / 1000, datetime.timezone.utc)
                facts = {"captured_at": moment.isoformat(timespec="milliseconds"), "device_model": self.options.model}
                (part / "metadata.json").write_text(json.dumps(facts))
                part.rename(folder / name)
        print(f"{len(matched)} of {len(times[self.color])} photos have a depth map within the limit", file=sys.stderr)
        print(f"capbundle pack {folder}/*{f' --depth-scale {self.unit}' if True in integers else ''} --out-dir BUNDLES")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bag", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--model", required=True, help="the model of the camera")
    parser.add_argument("--color", metavar="TOPIC")
    parser.add_argument("--depth", metavar="TOPIC")
    parser.add_argument("--within", type=float, default=20, metavar="MILLISECONDS")
    parser.add_argument("--unit", metavar="METRES", help="the number of metres in one unit of integers")
    parser.add_argument("--start", type=lambda text: datetime.datetime.fromisoformat(text).astimezone(), metavar="TIME")
    options = parser.parse_args()
    try:
        options.output.mkdir()
        with AnyReader([options.bag], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
            Bag(reader, options).write(options.output)
    except Exception as error:  # rosbags has several for a damaged bag
        refuse(f"{options.bag}: {error}")


if __name__ == "__main__":
    main()
