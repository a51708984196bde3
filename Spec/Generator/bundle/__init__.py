"""A second implementation of Spec/capture-bundle.md, written from that page alone.

Section numbers in these modules are those of the page. Standard library and `cryptography` only.
"""
