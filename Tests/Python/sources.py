"""Folders, archives, pipes and URLs, which are read once and without seeking."""
import io
import os
import shutil
import subprocess
import tarfile
import unittest.mock

import capbundle
import fsspec
from Kit.outcomes import expect

from Python.vectors import OnlyRead, code_of


def judged(place, source, **options):
    """Returns (name, verdict, first depth sample) of each bundle of a source, with and without verification."""
    found = [[(os.path.relpath(bundle.name, place.archive) if "://" not in bundle.name and bundle.name.startswith("/")
               else bundle.name, bundle.verdict, bundle.depth[0, 0])
              for bundle in capbundle.iterate(make(), trust=place.trust, verify=verify, **options)]
             for make in [source] for verify in (True, False)]
    expect([one[::2] for one in found[0]] == [one[::2] for one in found[1]], f"without verification: {found}")
    return found[0]


def verified(names):
    return [(name, "verified", 1.0) for name in names]


def folder(place):
    found = judged(place, lambda: place.archive)
    expect(found == verified(place.names), f"finds {found}")
    expect(code_of(lambda: list(capbundle.iterate(place.archive / "note.txt"))) == "container.magic", "takes a text")
    single = judged(place, lambda: place.archive / "a.bundle")
    expect(single == verified(["a.bundle"]), f"finds {single} in a bundle")


def broken_bundles(place):
    """A file that is not a bundle does not hide the others, in a folder and in an archive."""
    mixed = place.folder / "mixed"
    shutil.copytree(place.archive, mixed)
    for name, data in {"aa": b"", "ab": b"\1" + (mixed / "a.bundle").read_bytes()[1:], "ac": bytes(2000)}.items():
        (mixed / f"{name}.bundle").write_bytes(data)
    with tarfile.open(place.folder / "mixed.tar", "w") as archive:
        archive.add(mixed, "mixed")
    for source in (mixed, place.folder / "mixed.tar"):
        found = {os.path.basename(bundle.name)[:-7]: bundle.verdict for bundle in capbundle.iterate(source, trust=place.trust)}
        expect(found == {"a": "verified", "b": "verified", "c": "verified", "aa": "malformed", "ab": "malformed",
                         "ac": "malformed"}, f"{found}")
        codes = {os.path.basename(bundle.name)[:-7]: (code_of(lambda: bundle.id), code_of(lambda: bundle.photo))
                 for bundle in capbundle.iterate(source, verify=False)}
        expect(codes == {"a": (None,) * 2, "b": (None,) * 2, "c": (None,) * 2, "aa": ("container.truncated",) * 2,
                         "ab": ("container.magic",) * 2, "ac": ("container.magic",) * 2}, f"{codes}")


def piped_archive(place):
    """An archive from tar(1) in a pipe; the order is that of the archive."""
    tars = []

    def pipe():
        tars.append(subprocess.Popen(["tar", "-C", place.archive, "-cf", "-", "note.txt", *place.names],
                                     stdout=subprocess.PIPE))
        return tars[-1].stdout
    found = judged(place, pipe)
    for tar in tars:
        tar.stdout.close()
        expect(tar.wait() == 0, "tar(1) was cut off")
    expect(found == verified(place.names), f"finds {found}")


def archive_of(place, **options):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", **options) as archive:
        archive.add(place.archive, "long" * 15 + "/" + "name" * 15)  # a name that needs a second header
    return data.getvalue()


def cut_archive(place):
    """An archive that is cut off anywhere, also between two of its files, is not taken for a whole one."""
    whole = archive_of(place)
    expect(len(list(capbundle.iterate(OnlyRead(whole)))) == 3, "other bundles in a whole archive")
    with tarfile.open(fileobj=io.BytesIO(whole)) as archive:
        borders = [member.offset for member in archive] + [archive.offset]
    for length in {*borders, *(border + 700 for border in borders[:-1]), len(whole.rstrip(b"\0"))}:
        for verify in (True, False):
            code = code_of(lambda: [bundle.photo for bundle in capbundle.iterate(OnlyRead(whole[:length]), verify=verify)])
            expect(code in ("container.magic", "container.truncated"), f"{length} of {len(whole)} bytes: {code}")


class Counting(OnlyRead):
    """Counts the reads behind the end."""

    ends = 0

    def read(self, count=-1):
        found = super().read(count)
        self.ends += not found
        return found


def claimed_size(place):
    """What a header claims and the archive does not have is not looked for behind the end."""
    header = tarfile.TarInfo("note.txt")
    header.size = 4 << 20
    source = Counting(header.tobuf() + bytes(512))
    code = code_of(lambda: list(capbundle.iterate(source)))
    expect(code == "container.magic" and source.ends <= 3, f"{code} after {source.ends} reads behind the end")


def odd_headers(place):
    """Whatever tarfile raises for a header, the archive is refused in our own words."""
    for error in (IndexError, RecursionError, OverflowError, ValueError):
        with unittest.mock.patch.object(tarfile.TarInfo, "fromtarfile", side_effect=error("odd")):
            code = code_of(lambda: list(capbundle.iterate(OnlyRead(archive_of(place)))))
        expect(code == "container.magic", f"{error.__name__}: {code}")


def formats_of_archives(place):
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        found = [bundle.verdict for bundle in capbundle.iterate(OnlyRead(archive_of(place, format=form)), trust=place.trust)]
        expect(found == ["verified"] * 3, f"format {form}: {found}")


def late_reading(place):
    """A bundle that was not verified is not read any more when the next one came."""
    with tarfile.open(place.folder / "late.tar", "w") as archive:
        archive.add(place.archive, "late")
    for source in (place.archive, place.folder / "late.tar"):
        bundles = list(capbundle.iterate(source, verify=False))
        for bundle in bundles[:-1]:
            try:
                found = bundle.photo
            except ValueError:
                continue
            raise AssertionError(f"{bundle.name}: reads {len(found)} bytes")


def urls(place):
    memory = fsspec.filesystem("memory")
    for name in place.names + ["note.txt"]:
        memory.pipe(f"/python/{name}", (place.archive / name).read_bytes())
    memory.pipe("/python.tar", archive_of(place))
    found = judged(place, lambda: "memory://python")
    expect(found == verified([f"memory:///python/{name}" for name in place.names]), f"a folder: {found}")
    found = judged(place, lambda: "memory://python.tar")
    expect([one[1] for one in found] == ["verified"] * 3, f"an archive: {found}")
    with capbundle.open("memory://python/a.bundle", trust=place.trust) as bundle:
        expect(bundle.verdict == "verified", f"one bundle: {bundle.verdict}")
    try:
        capbundle.open("memory://python/none.bundle")
    except FileNotFoundError:
        return
    raise AssertionError("a missing file is not reported")


TESTS = [("a folder, and one bundle", folder), ("bundles that are broken", broken_bundles),
         ("an archive from a pipe", piped_archive),
         ("an archive that is cut off", cut_archive), ("a size that the archive does not have", claimed_size),
         ("headers that tarfile cannot read", odd_headers), ("the formats of tar", formats_of_archives),
         ("entries are not read after the next bundle", late_reading), ("URLs of fsspec", urls)]
