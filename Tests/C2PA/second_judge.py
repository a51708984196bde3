"""Prints what encypher-c2pa says of a photo: second_judge.py PHOTO STORE|- ROOTS|- TSA|-

It is a program of its own, because the library keeps a preference in the home folder.
"""
import json
import pathlib
import sys

import encypher_c2pa

photo, store, roots, tsa = (None if name == "-" else pathlib.Path(name).read_bytes() for name in sys.argv[1:])
report = encypher_c2pa.verify(photo, "image/jpeg", manifest_store=store, trust_pem=roots and roots.decode(),
                              tsa_trust_pem=tsa and tsa.decode(), no_default_trust=True, telemetry=False, online=False)
print(json.dumps(report))
