"""Base64 of section 1: RFC 4648 section 4 with padding, unused bits zero."""

from __future__ import annotations

import base64
import binascii


def encode(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def decode(text: str) -> bytes | None:
    """Returns the bytes, or None if the text is not exactly what encode() would write."""
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if encode(data) == text else None
