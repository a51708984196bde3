"""A queue, its bundles, key and backup on one disk."""
from Kit.outcomes import long
from PowerCut.bench import sound

SECONDS = 300
TESTS = [(f"a queue on {name}: a power cut takes nothing that was promised", long(lambda bench, name=name: sound(bench, name)))
         for name in ("ext4", "XFS", "btrfs", "F2FS", "exFAT", "ext4 on LUKS")]
