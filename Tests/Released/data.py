"""A folder of Tests/Data, and how its recorded commands are played."""
import hashlib
import json
import pathlib
import shutil
import tarfile

from Kit.outcomes import ROOT
from Kit.rigs import Home

DATA = ROOT / "Tests/Data"
VECTORS = ROOT / "Spec/Vectors"
DROPPED = object()
MACHINE = {"disk"}  # members that tell about the machine


class Tools(Home):
    """The tools under test, and folders in which they play recorded commands."""

    def __init__(self, tools, folder):
        super().__init__(folder / "home")
        self.tools, self.folder = tools, folder

    def unpack(self, data, name):
        """Copies the files of a release to a new folder, with the modes that git does not keep."""
        place = self.folder / name
        shutil.copytree(data, place)
        for private in (*place.glob("keys/*"), *place.glob("seen/*"), place / "passphrase"):
            private.parent.chmod(0o700)
            private.chmod(0o600)
        with tarfile.open(place / "queue.tar.gz") as archive:
            archive.extractall(place, filter="tar")
        return place

    def play(self, place, words, prefix=()):
        """Runs a recorded command; returns its exit code, the JSON that it printed, and the hashes of files in `out`."""
        tool, *more = words
        (place / "out").mkdir()
        done = self.call(*prefix, self.tools[tool], *more, cwd=place)
        wrote = {str(file.relative_to(place)): hashlib.sha256(file.read_bytes()).hexdigest()
                 for file in sorted((place / "out").rglob("*")) if file.is_file()}
        shutil.rmtree(place / "out")
        return {"code": done.code, "json": parsed(done.out) if "--json" in more else None, "wrote": wrote}, done


def parsed(out):
    """Parses one JSON value, or one a line."""
    try:
        return json.loads(out)
    except ValueError:
        return [json.loads(line) for line in out.splitlines()]


def common(first, second):
    """Returns what two results have in common: times and ages are left out, and what tells about the machine."""
    if isinstance(first, dict) and isinstance(second, dict):
        found = {key: common(first[key], second[key]) for key in first if key in second and key not in MACHINE}
        return {key: value for key, value in found.items() if value is not DROPPED}
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return [None if value is DROPPED else value for value in map(common, first, second)]
    return first if type(first) is type(second) and first == second else DROPPED


def differences(recorded, today, where=""):
    """Yields the members of a recorded result that today's lacks or has with another value; more members are allowed."""
    if isinstance(recorded, dict) and isinstance(today, dict):
        for key, value in recorded.items():
            yield from differences(value, today[key], f"{where}.{key}") if key in today else [f"{where}.{key} is missing"]
    elif isinstance(recorded, list) and isinstance(today, list) and len(recorded) == len(today):
        for number, (one, other) in enumerate(zip(recorded, today)):
            yield from differences(one, other, f"{where}[{number}]")
    elif recorded is not None and recorded != today:
        yield f"{where} is {str(today)[:100]}, was {str(recorded)[:100]}"


def vectors():
    """The name of each vector and the beginning of its hash."""
    files = sorted(file for file in VECTORS.rglob("*") if file.is_file() and file.name != "README.md")
    return {str(file.relative_to(VECTORS)): hashlib.sha256(file.read_bytes()).hexdigest()[:16] for file in files}


def releases():
    return sorted(path for path in pathlib.Path(DATA).iterdir() if path.is_dir())
