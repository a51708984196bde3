"""GNU tar, bsdtar and Python's tarfile read the same contents from a bundle, and write the same bytes."""
import functools
import os
import shutil
import stat

from Judges.bench import SAMPLE, Skipped, expect


def _tool(name):
    if not shutil.which(name):
        raise Skipped(f"{name} is not installed")
    return name


def extracts(tool, bench):
    bundle = bench.pack()
    folder = bench.scratch(f"by-{tool}")
    bench.run(_tool(tool), "-xf", bundle.path, "-C", folder)
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*")}
    expect({name: path.read_bytes() for name, path in found.items()} == bundle.entries,
           f"{tool} extracts other files than tarfile")
    listed = bench.run(tool, "-tf", bundle.path).out.decode().split("\n")[:-1]
    expect(listed == [member.name for member in bundle.members], f"{tool} lists other names than tarfile: {listed}")
    expect(all(stat.S_ISREG(path.lstat().st_mode) for path in found.values()), f"{tool} made something but files")


def tarfile(bench):
    bundle = bench.pack()
    for member in bundle.members:
        expect(member.isreg() and member.mode == 0o644 and member.mtime == member.uid == member.gid == 0,
               f"tarfile sees type, mode, time or owner in {member.name}")
    expect(bundle.entries["photo.jpg"] == (SAMPLE / "photo.jpg").read_bytes(), "photo.jpg is not the original")


def bsdtar_writes_the_same(bench):
    bundle = bench.pack()
    folder = bench.scratch("rewritten")
    for name, data in bundle.entries.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o644)
        os.utime(path, (0, 0))
    owner = ["--uid", "0", "--gid", "0", "--uname", "", "--gname", ""]
    made = bench.run(_tool("bsdtar"), "--format", "ustar", *owner, "-cf", "-", *bundle.entries, cwd=folder).out
    # A tar program pads to its record size, while a bundle ends with the second zero block.
    expect(made[:len(bundle.data)] == bundle.data, "the bytes differ")
    expect(not any(made[len(bundle.data):]), "bsdtar has more than zeros after the bundle's end")


TESTS = [
    *((f"{name} extracts what tarfile reads", functools.partial(extracts, tool))
      for tool, name in (("tar", "GNU tar"), ("bsdtar", "bsdtar"))),
    ("tarfile sees plain files of mode 0644, no times, no owners, photo.jpg as captured", tarfile),
    ("bsdtar makes the same archive bytes from the extracted files", bsdtar_writes_the_same),
]
