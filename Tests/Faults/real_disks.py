"""Places that are really full, read-only or limited, where several calls in a row fail."""
import functools
import resource
import shutil
import signal
import subprocess

from bench import PHOTO, write_raw
from checks import Skipped, expect

LARGE = 600_000  # bytes of a photo that does not fit on the small disks below


@functools.cache
def require_mounts():
    """Skips the test if no file system can be mounted in a separate mount namespace."""
    if not shutil.which("unshare"):
        raise Skipped("unshare is not installed")
    done = subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"], capture_output=True, check=False)
    if done.returncode:
        raise Skipped("nothing can be mounted here")


def mounted(rig, place, mount, *args):
    """Runs with `place` mounted by the shell command `mount`; returns the result and the names in `place`."""
    require_mounts()
    place.mkdir(exist_ok=True)
    script = (f'place=$0; {mount} || exit 99; "$@"; code=$?; '
              'echo "left: $(ls -A "$place" | tr "\\n" " ")" >&2; exit $code')
    result = rig.run(*args, prefix=["unshare", "-m", "sh", "-c", script, place])
    if result.code == 99:
        raise Skipped(f"cannot be mounted: {result.text.strip()}")
    message, _, left = result.text.rpartition("left:")
    result.err = message.encode()
    return result, left.split()


def tmpfs(options):
    return f'mount -t tmpfs -o {options} none "$place"'


def large(rig):
    return write_raw(rig.folder / "large", photo=PHOTO[:-2] + b"\x55" * LARGE + b"\xff\xd9")


def full_disk(bench):
    """If the bundle does not fit, no file stays, and the room is free again."""
    rig = bench.rig()
    place = rig.folder / "small"
    for options in ("size=64k", "size=512k"):
        result, left = mounted(rig, place, tmpfs(options), "pack", large(rig) if options == "size=64k" else
                               rig.folder / "large", "-o", place / "x.bundle")
        result.must(74, about=options).naming(place / "x.bundle", options)
        expect(not left, f"{options}: leaves {left}")
    expect(rig.state() == 2, "the two counters were not counted as used")
    rig.verify(rig.bundle())


def no_inode(bench):
    rig = bench.rig()
    place = rig.folder / "small"
    result, left = mounted(rig, place, tmpfs("size=1m,nr_inodes=1"), "pack", rig.raw, "-o", place / "x.bundle")
    result.must(73, 74).naming(place / "x.bundle", "no inode left")
    expect(not left, f"leaves {left}")
    expect(rig.state() == 0, "a counter was used although the bundle could not be begun")


def full_key_disk(bench):
    """If the counter cannot be written, nothing is signed."""
    rig = bench.rig()
    place = rig.folder / "small"
    keys = f'cp -p "{rig.keys}"/* "$place"; head -c 9999999 /dev/zero > "$place/filler" 2> /dev/null; true'
    result, left = mounted(rig, place, f'{tmpfs("size=64k")} && {{ {keys}; }}', "pack", rig.raw, "-o",
                           rig.out / "x.bundle", "--key", place / "device.key")
    result.must(74).naming(place / "device.key.state", "full key disk")
    expect(not (rig.out / "x.bundle").exists(), "a bundle was made without its counter on disk")
    expect(not [name for name in left if name.startswith(".")], f"leaves {left}")


def read_only(bench):
    rig = bench.rig()
    bundle = rig.bundle()
    bind = 'mount --bind "$place" "$place" && mount -o remount,bind,ro "$place"'
    result, _ = mounted(rig, rig.out, bind, "pack", rig.raw, "-o", rig.out / "new.bundle")
    result.must(73, about="target").naming(rig.out / "new.bundle", "read-only target")
    result, _ = mounted(rig, rig.out, bind, "pack", "--force", rig.raw, "-o", bundle)
    result.must(73, about="target, --force").naming(bundle, "read-only target, --force")
    result, _ = mounted(rig, rig.out, bind, "verify", bundle)
    result.must(0, about="verify needs to write nothing")
    result, _ = mounted(rig, rig.keys, bind, "pack", rig.raw, "-o", rig.out / "new.bundle")
    result.must(73, 74, about="key").naming(rig.keys, "read-only key")
    result, _ = mounted(rig, rig.keys, bind, "key", "public")
    result.must(0, about="key public needs to write nothing")
    result, _ = mounted(rig, rig.trust.parent, bind, "trust", "revoke", "rig")
    result.must(73, 74, about="trust").naming(rig.trust, "read-only trust file")
    result, _ = mounted(rig, rig.trust.parent, bind, "trust", "list")
    result.must(0, about="trust list needs to write nothing")
    expect(rig.state() == 1, "a counter was used for a target that cannot be made")


def read_only_key_show(bench):
    """Reading the counter needs no permission to write, so a key may be on a disk that is read-only now."""
    rig = bench.rig()
    bind = 'mount --bind "$place" "$place" && mount -o remount,bind,ro "$place"'
    mounted(rig, rig.keys, bind, "key", "show")[0].must(0)


def file_size_limit(bench):
    """`ulimit -f` kills with SIGXFSZ, or gives 74 if that signal is ignored; no file stays either way."""
    rig = bench.rig()
    raw = large(rig)

    def limit(disposition):
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        signal.signal(signal.SIGXFSZ, disposition)

    for disposition, codes in ((signal.SIG_DFL, (-signal.SIGXFSZ, 74)), (signal.SIG_IGN, (74,))):
        rig.pack(rig.out / "x.bundle", raw=raw, restore_signals=False,
                 preexec_fn=functools.partial(limit, disposition)).must(*codes)
        expect(not list(rig.out.iterdir()) and not rig.strays(), f"leaves {rig.strays()}")
    rig.verify(rig.bundle())


def few_descriptors(bench):
    """With any amount of room the result is an error with a message or a complete bundle."""
    rig = bench.rig()
    worked = 0
    for count in range(3, 16):
        def limit(count=count):
            resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
        target = rig.out / f"{count}.bundle"
        result = rig.pack(target, preexec_fn=limit).must(0, 66, 70, 73, 74, 77, 78, 127, about=f"{count} descriptors")
        expect(result.code == 0 or result.err, f"{count} descriptors: fails without a word")
        if result.code == 0:
            rig.verify(target)
            worked += 1
        else:
            expect(not target.exists(), f"{count} descriptors: exit {result.code}, but a bundle is there")
        expect(not rig.strays(), f"{count} descriptors: leaves {rig.strays()}")
    expect(worked >= 5, f"only {worked} of 13 limits are enough")


TESTS = [
    ("a full disk: 74, no file stays, counters continue", full_disk),
    ("a disk without a free inode: nothing is signed", no_inode),
    ("a full disk below the key: 74, nothing is signed", full_key_disk),
    ("a read-only disk: 73, nothing is signed; reading commands work", read_only),
    ("a key on a read-only disk: its counter can be shown", read_only_key_show),
    ("a limit on file sizes: no file stays", file_size_limit),
    ("few file descriptors: an error with a message, or a complete bundle", few_descriptors),
]
