"""Reads and verifies capture bundles: signed photos with their depth maps.

    import capbundle

    with capbundle.open("cap.bundle", trust="trusted_devices") as bundle:
        if bundle.verdict == "verified":
            print(bundle.id, bundle.captured_at, bundle.depth.shape)

    for bundle in capbundle.iterate("archive.tar", trust="trusted_devices"):
        ...

The format and its rules are on the page Spec/capture-bundle.md of the project.
"""

from .bundle import Bundle, BundleError, Finding, Intrinsics, Verdict
from .sources import Trust, iterate, open

__all__ = ["Bundle", "BundleError", "Finding", "Intrinsics", "Trust", "Verdict", "iterate", "open"]
__version__ = "1.0.0"
