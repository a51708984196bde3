"""A queue, its bundles, key and backup on one disk."""
from Kit.outcomes import long
from PowerCut.bench import sound

SECONDS = 300
TESTS = [
    ("a queue on ext4: a power cut takes nothing that was promised", long(lambda bench: sound(bench, "ext4"))),
    ("a queue on XFS: a power cut takes nothing that was promised", long(lambda bench: sound(bench, "XFS"))),
    ("a queue on btrfs: a power cut takes nothing that was promised", long(lambda bench: sound(bench, "btrfs"))),
    ("a queue on F2FS: a power cut takes nothing that was promised", long(lambda bench: sound(bench, "F2FS"))),
    ("a queue on exFAT: a power cut takes nothing that was promised", long(lambda bench: sound(bench, "exFAT"))),
    ("a queue on ext4 on LUKS: a power cut takes nothing that was promised", long(lambda bench: sound(bench, "ext4 on LUKS"))),
]
