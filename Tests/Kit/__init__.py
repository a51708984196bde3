"""What the Python tests share: how they are played and reported, rigs with tools and keys, servers, kills, small disks.

The second implementation of the format, in Spec/Generator, can be imported too.
"""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Spec/Generator"))
