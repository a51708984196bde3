"""A queue on ext4, and a `folder` destination on a second disk."""
from Kit.outcomes import long
from PowerCut.bench import sound

SECONDS = 300

TESTS = [(f"a folder destination on {name}: a power cut leaves no receipt without bytes",
          long(lambda bench, name=name: sound(bench, "ext4", name)))
         for name in ("ext4", "XFS", "btrfs", "F2FS", "exFAT", "FAT")]
