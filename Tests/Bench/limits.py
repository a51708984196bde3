"""Lower limits of time: hashing, inflating and reading on this CPU, this disk, the loopback interface, the start of a process."""
import concurrent.futures
import hashlib
import os
import socket
import statistics
import subprocess
import threading
import time
import zlib

PIECE = bytes(1 << 20)
SAMPLE = 256 * len(PIECE)  # what is measured of a larger size
PAGES, STARTS = 200, 50


def seconds(folder, sha=0, read=(), maps=(), cores=2, syncs=0, disk=0, wire=0, starts=0):
    """Returns the seconds of each part of a row's work, by name, and the sum of those that cannot overlap.

    These are, on this number of cores: starting `starts` processes that do nothing, hashing `sha` bytes, reading the files
    `read` from the page cache, inflating the gzip members `maps`. The others: appending `syncs` pages with an fdatasync each,
    writing `disk` bytes with one fdatasync, sending `wire` bytes over loopback.
    """
    on = f" on {cores}" if cores > 1 else ""
    parts = {"process": starts and starts * one_start(),
             f"SHA-256{on}": sha and scaled(lambda size: hashing(size, cores), sha),
             f"reading{on}": read and timed(lambda: reading(read)) / cores,
             f"zlib{on}": maps and timed(lambda: [zlib.decompress(member, wbits=31) for member in maps]) / cores}
    parts = {name: value for name, value in parts.items() if value}
    if len(parts) > 1:
        parts[" + ".join(name.removesuffix(on) for name in parts) + on] = sum(parts.values())
    others = {"fdatasync": syncs and syncs * one_sync(folder),
              "disk": disk and scaled(lambda size: writing(folder, size), disk),
              "loopback": wire and scaled(sending, wire)}
    return parts | {name: value for name, value in others.items() if value}


def scaled(measure, size):
    return measure(min(size, SAMPLE)) * size / min(size, SAMPLE)


def timed(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def pieces(size):
    """Yields pieces of zeros of this size together."""
    for start in range(0, size, len(PIECE)):
        yield PIECE[:size - start]


def hashing(size, cores):
    def one(_):
        digest = hashlib.sha256()
        for piece in pieces(size // cores):
            digest.update(piece)  # without Python's lock, so that the threads run at the same time

    with concurrent.futures.ThreadPoolExecutor(cores) as threads:
        return statistics.median(timed(lambda: list(threads.map(one, range(cores)))) for _ in range(3))


def reading(files):
    room = bytearray(1 << 18)
    for path in files:
        with open(path, "rb", buffering=0) as file:
            while file.readinto(room):
                pass


def one_sync(folder):
    """Returns the seconds of one fdatasync of a file that grew by a page, as a log does."""
    with open(folder / "log", "wb", buffering=0) as file:
        def grow():
            file.write(PIECE[:4096])
            os.fdatasync(file.fileno())
        return statistics.median(timed(grow) for _ in range(PAGES))


def writing(folder, size):
    os.sync()
    with open(folder / "written", "wb", buffering=0) as file:
        def write():
            for piece in pieces(size):
                file.write(piece)
            os.fdatasync(file.fileno())
        taken = timed(write)
    os.unlink(file.name)
    return taken


def sending(size):
    def receive():
        with socket.create_connection(server.getsockname()) as connection:
            room = bytearray(len(PIECE))
            while connection.recv_into(room):
                pass

    def send():
        reader = threading.Thread(target=receive)
        reader.start()
        with server.accept()[0] as connection:
            for piece in pieces(size):
                connection.sendall(piece)
        reader.join()

    with socket.create_server(("127.0.0.1", 0)) as server:
        return statistics.median(timed(send) for _ in range(3))


def one_start():
    return statistics.median(timed(lambda: subprocess.run(["/bin/true"], check=True)) for _ in range(STARTS))
