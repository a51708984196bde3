"""A second implementation of Spec/capture-bundle.md and Spec/upload.md, written from these pages alone.

Section numbers in these modules are those of capture-bundle.md; upload.py, upload_reader.py and request.py are about
upload.md. Standard library and `cryptography` only.
"""
