"""What the Python tests share: how they are played and reported, rigs with tools and keys, servers, kills, small disks.

The second implementation of the format can be imported too: its reader in Samples/python, the rest in Spec/Generator.
"""
import pathlib
import sys

sys.path += [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("Spec/Generator", "Samples/python/src")]
