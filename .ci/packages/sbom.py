#!/usr/bin/env python3
"""Writes what the packages are made of, as CycloneDX 1.5: sbom.py FILE VERSION EPOCH

The Swift packages are those of Package.resolved, the Debian packages those whose libraries the programs are linked to or
load, in the versions of the machine that built them. The same inputs give the same bytes.
"""
import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Debian packages: linked statically, linked, or loaded when they are needed.
STATIC = ("libstdc++-12-dev", "libgcc-12-dev", "libstdc++-14-dev", "libgcc-14-dev")
LOADED = ("libc6", "libcurl4", "libcurl4t64", "libdeflate0", "libssl3", "libssl3t64", "libsqlite3-0", "zlib1g", "libspng0",
          "libturbojpeg0", "libopenexr-3-1-30", "libtiff6", "libheif1", "libarchive13", "libarchive13t64")


def run(*words):
    return subprocess.run(words, check=False, capture_output=True, text=True).stdout


def swift_packages():
    """Yields the Swift packages that the two builds pinned."""
    pins = {}
    for place in (ROOT, ROOT / "Samples/Receiver"):
        file = place / "Package.resolved"
        for pin in json.loads(file.read_text())["pins"] if file.is_file() else []:
            pins[pin["identity"]] = pin
    for _, pin in sorted(pins.items()):
        address = re.sub(r"^https://|\.git$", "", pin["location"])
        version = pin["state"].get("version", pin["state"]["revision"])
        space, _, name = address.rpartition("/")
        yield component("library", name, version, f"pkg:swift/{space}/{name}@{version}", group=space, externalReferences=[
            {"type": "vcs", "url": pin["location"], "comment": pin["state"]["revision"]}])


def debian_packages():
    for names, scope in ((STATIC, "required"), (LOADED, "required")):
        for name in names:
            fields = run("dpkg-query", "-W", "-f", "${db:Status-Abbrev}|${Version}|${Architecture}", name).split("|")
            if len(fields) == 3 and fields[0].strip() == "ii":
                purl = f"pkg:deb/debian/{name.replace('+', '%2B')}@{fields[1].replace('+', '%2B')}?arch={fields[2]}"
                yield component("library", name, fields[1], purl, scope=scope)


def component(kind, name, version, purl, **more):
    return {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl, **more}


def main():
    path, version, epoch = sys.argv[1:]
    swift = re.search(r"Swift version (\S+)", run("swift", "--version"))
    found = [*swift_packages(), *debian_packages()]
    found += [component("platform", "swift-runtime", swift[1], f"pkg:generic/swift-runtime@{swift[1]}")] if swift else []
    whole = component("application", "capture-bundle", version, f"pkg:generic/capture-bundle@{version}",
                      licenses=[{"license": {"id": "Apache-2.0"}}])
    date = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
    content = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"timestamp": f"{date:%Y-%m-%dT%H:%M:%SZ}", "component": whole},
        "components": found,
        "dependencies": [{"ref": whole["bom-ref"], "dependsOn": sorted(one["bom-ref"] for one in found)},
                         *({"ref": one["bom-ref"]} for one in found)],
    }
    seed = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    content["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, seed)}"
    pathlib.Path(path).write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
