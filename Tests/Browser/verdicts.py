"""The page gives the verdicts of the vectors, and says what capbundle says."""

import vector
from outcomes import expect
from page import SAMPLES

# The parts of Spec/Vectors whose vectors are bundles.
PARTS = (
    "valid", "container", "manifest", "depth", "metadata", "location", "assertion", "entry", "trust", "policy", "exif",
)
BATCH = 1_000_000
SAMPLE = SAMPLES / "desk-lamp/desk-lamp.bundle"


def batches():
    """All vectors that are bundles, in lists of about a megabyte."""
    vectors, problems = vector.load()
    expect(not problems, f"{problems[:2]}")
    batch, size = [], 0
    for one in (one for one in vectors if one.part in PARTS):
        batch.append(one)
        size += len(one.data)
        if size > BATCH:
            yield batch
            batch, size = [], 0
    yield batch


def judges_every_vector(page):
    page.open()
    wrong, count = [], 0
    for batch in batches():
        for one, report in zip(batch, page.verify(batch), strict=True):
            count += 1
            codes = sorted({fault["code"] for fault in report.get("faults", [])})
            if (report.get("exit_code"), codes) != (one.exit_code, one.codes):
                wrong.append(f"{one.name}: {report.get('exit_code')} {codes or report.get('broke')}")
    expect(count > 1000, f"only {count} vectors")
    expect(not wrong, f"{len(wrong)} of {count}: {wrong[:5]}")


def reports_what_capbundle_reports(page):
    """All members of the report are the same, except the words of messages and the number of bytes."""
    page.open()
    wrong = []
    for batch in batches():
        for one, report in zip(batch, page.verify(batch), strict=True):
            if one.exit_code == 78:
                continue
            bundle, trust = page.folder / "vector.bundle", page.folder / "vector.trust"
            bundle.write_bytes(one.data)
            trust.write_bytes(one.trust_file)
            said = page.reports(bundle, words=("--trust", trust, *one.arguments))[str(bundle)]
            names = (set(report) | set(said)) - {"bytes", "file", "report"}
            if one.part == "container" and "bundle" not in report:
                # The page keeps the order of section 11: it checks the manifest after assertion.cbor was read.
                names = {"verdict", "exit_code", "faults", "warnings"}
            differing = [name for name in names if comparable(name, report) != comparable(name, said)]
            if differing:
                wrong.append(f"{one.name}: {sorted(differing)}")
    expect(not wrong, f"{len(wrong)}: {wrong[:8]}")


def comparable(name, report):
    value = report.get(name)
    if value is not None and name in ("faults", "warnings"):
        return sorted((one["code"], one.get("entry", "")) for one in value)
    return value


def verifies_chosen_files(page):
    """Files as users choose them: the sample without and with its key, and the forgeries."""
    page.open()
    page.choose(SAMPLE)
    expect("sound, but the device is unknown" in page.text(), "the device is known without a trust file")
    page.choose(SAMPLES / "desk-lamp/device.pem", input="trust-files")
    page.wait("return document.querySelector('.verdict').innerText.includes('verified')", "does not trust the key")
    page.choose(*sorted((SAMPLES / "tampered").glob("*.bundle")))
    said = page.ask("return [...document.querySelectorAll('tbody tr')].map(r => r.innerText).join('\\n')")
    for words in ("depth.bundle", "photo.bundle", "time.bundle", "key.bundle", "entry.sha256", "assertion.signature",
                  "trust.unknown", "verified"):
        expect(words in said, f"the list lacks {words}")


def uses_the_words_of_capbundle(page):
    """For the sample, the forgeries and files that are damaged in other ways: the lines that `verify` prints."""
    page.open()
    page.choose(SAMPLES / "desk-lamp/device.pem", input="trust-files")
    page.capbundle("trust", "add", "device", SAMPLES / "desk-lamp/device.pem")
    whole = SAMPLE.read_bytes()
    damaged = {
        "cut.bundle": whole[:5000], "more.bundle": whole + b"x", "empty.bundle": b"",
        "padding.bundle": whole[:-1030] + b"x" + whole[-1029:], "version.bundle": whole.replace(b"version=1\n", b"version=2\n", 1),
    }
    for name, data in damaged.items():
        (page.folder / name).write_bytes(data)
    for path in (SAMPLE, *(SAMPLES / "tampered").glob("*.bundle"), *(page.folder / name for name in damaged)):
        page.open()
        page.choose(SAMPLES / "desk-lamp/device.pem", input="trust-files")
        page.choose(path)
        shown = " ".join(page.text().split())
        said = page.capbundle("verify", path, codes=(0, 1, 2, 3)).splitlines()
        verdict = said[0].removeprefix(f"{path}: ").split(": ")[0]
        expect(verdict in shown, f"{path.name}: the page does not say {verdict!r}")
        sizes = ("photo ", "depth ", "size ", "read ")
        for line in (line.strip(" -") for line in said[1:]):
            words = " ".join(line.split()).replace("this program reads", "this page reads")
            if not words.startswith(sizes) and words != "not checked or not proven:":
                expect(words in shown, f"{path.name}: the page does not say {words!r}")


def gives_no_verdict_with_a_damaged_trust_file(page):
    page.open()
    page.choose(SAMPLE)
    trust = page.folder / "damaged.trust"
    trust.write_text("# devices\nstudio p256 AAAA\n")
    page.choose(trust, input="trust-files")
    page.wait("return document.querySelector('[role=alert]') !== null", "does not refuse the trust file")
    expect("line 2: the key is not base64" in page.text(), "the page does not say what is wrong")
    expect(not page.ask("return document.querySelector('.verdict')"), "the page gives a verdict")
    page.ask("document.querySelector('#devices button').click()")
    page.wait("return document.querySelector('.verdict') !== null", "gives no verdict without the trust file")


def never_trusts_a_file_that_was_given_as_a_bundle(page):
    page.open()
    page.choose(SAMPLES / "desk-lamp/device.pem", SAMPLE)
    expect(page.ask("return document.querySelectorAll('.tiles .good').length") == 0, "the key is trusted")
    expect(page.ask("return document.querySelectorAll('#devices li').length") == 0, "the key is listed")


TESTS = [
    ("every vector that is a bundle has its exit code and its codes", judges_every_vector),
    ("its reports are those of capbundle", reports_what_capbundle_reports),
    ("the sample and the forgeries, as chosen files", verifies_chosen_files),
    ("its words are those of capbundle", uses_the_words_of_capbundle),
    ("a damaged trust file prevents every verdict", gives_no_verdict_with_a_damaged_trust_file),
    ("a file that was given as a bundle is never trusted", never_trusts_a_file_that_was_given_as_a_bundle),
]
