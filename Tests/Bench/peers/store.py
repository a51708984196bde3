#!/usr/bin/env python3
"""What a careful script does for `capqueue push`: each file is copied, synced and renamed, and its folder synced. It neither
hashes nor verifies anything and keeps no list.   usage: store.py FOLDER FILE...
"""
import os
import shutil
import sys

folder, *files = sys.argv[1:]
directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
for path in files:
    name = os.path.join(folder, os.path.basename(path))
    shutil.copyfile(path, name + ".part")  # in the kernel, the quickest copy that Python has
    with open(name + ".part", "rb") as copy:
        os.fsync(copy.fileno())
    os.rename(name + ".part", name)
    os.fsync(directory)
