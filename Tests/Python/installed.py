"""The package as users install it: wheel and sdist, in a clean environment, and on Debian 13 with its own Python."""
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

from Kit.outcomes import ROOT, Skipped, expect, long

from Python.suite import PACKAGE

BUILDING = 900  # in seconds
USE = """
import sys, capbundle
with capbundle.open(sys.argv[1], trust=sys.argv[2]) as bundle:
    print(bundle.verdict, bundle.depth.sum(), capbundle.__file__.startswith(sys.prefix))
"""


def environment(place, name, *words):
    """Makes a virtual environment, installs these words with pip, and returns its Python."""
    python = place.folder / name / "bin/python"
    subprocess.run([sys.executable, "-m", "venv", place.folder / name], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *words], check=True, timeout=BUILDING)
    return python


def use(place, *python, files=None):
    """Uses an installed package, without the repository."""
    bundle, trust = files or (place.posed, place.trust)
    env = {"PYTHONPATH": ""}
    done = place.rig.call(*python, "-c", USE, bundle, trust, env=env).must(0, about="reads")
    expect(done.out == b"verified 20.25 True\n", f"prints {done.out}")
    place.rig.call(*python, "-m", "capbundle", "verify", bundle, "--trust", trust, env=env).must(0, about="verifies")


def copied(place, name):
    """Returns a copy of the package, as git has it, and the names of its files."""
    folder = place.folder / name
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    return folder, names_in(folder)


def names_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@long
def distributions(place):
    """Wheel and sdist have the right files, twine finds nothing, and both can be installed and used."""
    package, names = copied(place, "built")
    tools = environment(place, "tools", "-r", ROOT / "Tests/Python/requirements.txt")
    place.rig.call(tools, "-m", "build", "--no-isolation", package, seconds=BUILDING).must(0, about="build")
    sdist, wheel = sorted((package / "dist").iterdir(), key=lambda path: path.suffix)
    place.rig.call(tools, "-m", "twine", "check", "--strict", sdist, wheel).must(0, about="twine check")
    with tarfile.open(sdist) as archive:
        found = {name.partition("/")[2] for name in archive.getnames()}
    expect(found == names | {"PKG-INFO"}, f"the sdist differs in {found ^ (names | {'PKG-INFO'})}")
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    expect(found == {name.removeprefix("src/") for name in names if name.startswith("src/")}, f"the wheel has {found}")
    use(place, environment(place, "of-wheel", wheel))
    use(place, environment(place, "of-sdist", sdist))


@long
def from_folder(place):
    """`pip install ./Samples/python` leaves nothing behind in the folder."""
    package, names = copied(place, "folder")
    use(place, environment(place, "of-folder", f"{package}[fsspec]"))
    expect(names_in(package) == names, f"leaves {names_in(package) - names}")


@long
def debian(place):
    """The Python, cryptography and numpy of Debian 13 are enough; nothing is downloaded for the package."""
    if os.geteuid() != 0:
        raise Skipped("only root can make a Debian system")
    places = place.rig.call("apt-get", "indextargets", "--format", "$(SITE)").must(0).out.decode().split()
    mirror = next(one for one in places if one.rstrip("/").endswith("/debian"))
    system = place.folder / "debian"
    # debootstrap does not see that python3-cffi-backend is what python3-cryptography asks for by another name.
    packages = "python3-pip,python3-cryptography,python3-cffi-backend,python3-numpy,python3-hatchling"
    done = place.rig.call("debootstrap", "--variant=minbase", f"--include={packages}", "trixie", system, mirror,
                          seconds=BUILDING)
    done.must(0, about=f"debootstrap: {done.out[-300:]}")
    shutil.copytree(copied(place, "debian-package")[0], system / "package")
    for file in (place.posed, place.trust):
        shutil.copy(file, system)
    inside = ["chroot", system, "/usr/bin/python3"]
    place.rig.call(*inside, "-m", "pip", "install", "--no-index", "--no-build-isolation", "--break-system-packages",
                   "/package", seconds=BUILDING).must(0, about="pip")
    use(place, *inside, files=(f"/{place.posed.name}", f"/{place.trust.name}"))


SECONDS = 300
TESTS = [("wheel and sdist", distributions), ("pip install of the folder", from_folder), ("Debian 13", debian)]
