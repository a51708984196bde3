"""The writing half of the second implementation, and its reader of upload bodies, made from the pages alone.

The reading half is the package `capbundle` of Samples/python, which this line makes importable without an installation.
Section numbers in these modules refer to capture-bundle.md; in upload.py, upload_reader.py and request.py they refer to
upload.md. The modules use only the standard library and `cryptography`.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "Samples/python/src"))
