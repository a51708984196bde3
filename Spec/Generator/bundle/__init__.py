"""A second implementation of Spec/capture-bundle.md and Spec/upload.md, written from these pages alone.

Section numbers in these modules refer to capture-bundle.md; in upload.py, upload_reader.py and request.py they refer to
upload.md. The modules use only the standard library and `cryptography`.
"""
