"""GNU tar, bsdtar and Python's tarfile read the same contents from a bundle, and write the same bytes."""
import os
import shutil
import stat

from bench import SAMPLE, Skipped, expect


def _tool(name):
    if not shutil.which(name):
        raise Skipped(f"{name} is not installed")
    return name


def _extracts(bench, tool):
    bundle = bench.pack()
    folder = bench.scratch(f"by-{tool}")
    bench.run(_tool(tool), "-xf", bundle.path, "-C", folder)
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*")}
    expect({name: path.read_bytes() for name, path in found.items()} == bundle.entries,
           f"{tool} extracts other files than tarfile")
    listed = bench.run(tool, "-tf", bundle.path).stdout.decode().split("\n")[:-1]
    expect(listed == [member.name for member in bundle.members], f"{tool} lists other names than tarfile: {listed}")
    expect(all(stat.S_ISREG(path.lstat().st_mode) for path in found.values()), f"{tool} made something but files")
    expect((folder / "photo.jpg").read_bytes() == (SAMPLE / "photo.jpg").read_bytes(), "photo.jpg is not the original")


def gnu_tar(bench):
    _extracts(bench, "tar")


def bsdtar(bench):
    _extracts(bench, "bsdtar")


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
    made = bench.run(_tool("bsdtar"), "--format", "ustar", *owner, "-cf", "-", *bundle.entries, cwd=folder).stdout
    # A tar program pads to its record size, while a bundle ends with the second zero block.
    expect(made[:len(bundle.data)] == bundle.data, "the bytes differ")
    expect(not any(made[len(bundle.data):]), "bsdtar has more than zeros after the bundle's end")


JUDGES = [
    ("GNU tar extracts what tarfile reads, photo.jpg as captured", gnu_tar),
    ("bsdtar extracts what tarfile reads, photo.jpg as captured", bsdtar),
    ("tarfile sees plain files of mode 0644, no times, no owners", tarfile),
    ("bsdtar makes the same archive bytes from the extracted files", bsdtar_writes_the_same),
]
