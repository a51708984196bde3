"""The page gives the verdicts of the vectors, and says what capbundle says."""
import itertools

import vector
from Differential import judges
from Differential.mutants import GROUP, Case
from Kit.outcomes import IS_LONG, expect
from VerifyPage.samples import FORGERIES, KEY, SAMPLE

# The parts of Spec/Vectors whose vectors are bundles.
PARTS = (
    "valid", "container", "manifest", "depth", "metadata", "location", "assertion", "entry", "trust", "policy", "exif",
)
BATCH = 1_000_000


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
    """Exit code and codes are those of the vector. The whole report is that of capbundle, except the words of messages and
    the number of bytes."""
    page.open()
    wrong, count = [], 0
    for batch in batches():
        for one, report, said in zip(batch, page.verify(batch), reports(page, batch), strict=True):
            count += 1
            codes = sorted({fault["code"] for fault in report.get("faults", [])})
            if (report.get("exit_code"), codes) != (one.exit_code, one.codes):
                wrong.append(f"{one.name}: {report.get('exit_code')} {codes or report.get('broke')}")
            if said is None:
                continue
            names = (set(report) | set(said)) - {"bytes", "file", "report"}
            if one.part == "container" and "bundle" not in report:
                # The page keeps the order of section 11: it checks the manifest after assertion.cbor was read.
                names = {"verdict", "exit_code", "faults", "warnings"}
            differing = [name for name in names if comparable(name, report) != comparable(name, said)]
            if differing:
                wrong.append(f"{one.name}: {sorted(differing)}")
    expect(count > 1000, f"only {count} vectors")
    expect(not wrong, f"{len(wrong)} of {count}: {wrong[:8]}")


def reports(page, batch):
    """The reports of capbundle on all vectors, or in the short form on a fifth of them; None for the others. It takes all
    vectors with the same trust file and options in one call."""
    def call_of(numbered):
        return numbered[1].trust_file, numbered[1].arguments

    found = [None] * len(batch)
    # A damaged trust file prevents reports.
    judged = [(number, one) for number, one in enumerate(batch) if one.exit_code != 78]
    judged = sorted(judged if IS_LONG else judged[::5], key=call_of)
    trust = page.folder / "vector.trust"
    for (trust_file, words), group in itertools.groupby(judged, key=call_of):
        trust.write_bytes(trust_file)
        paths = {}
        for number, one in group:
            paths[number] = page.folder / f"vector{number}.bundle"
            paths[number].write_bytes(one.data)
        said = page.reports(*paths.values(), words=("--trust", trust, *words))
        for number, path in paths.items():
            found[number] = said[str(path)]
    return found


def comparable(name, report):
    value = report.get(name)
    if value is not None and name in ("faults", "warnings"):
        return sorted((one["code"], one.get("entry", "")) for one in value)
    return value


def agrees_on_mutants(page):
    """On those cases of Tests/Differential that are bundles, the page says what the second implementation says. In every
    fourth group the photos have EXIF."""
    page.open()
    wrong, judged = [], 0
    groups = range(20032 // GROUP) if IS_LONG else (2, 3)
    for group in groups:
        numbers = range(group * GROUP, (group + 1) * GROUP)
        cases = [case for case in map(Case, numbers) if not case.is_body]
        for case, report in zip(cases, page.verify(map(Given, cases)), strict=True):
            judged += 1
            python = judges.in_python(case)
            said = judges.from_report(report) if "exit_code" in report else None
            if said is None or judges.differ(case, said, python):
                wrong.append(f"case {case.number}, {case.named()}: page {said or report}, Python {python}")
    expect(judged > len(groups) * GROUP // 2, f"only {judged} cases")
    expect(not wrong, f"{len(wrong)} of {judged}: {wrong[:8]}")


class Given:
    """A case, with the members of a vector that the page needs."""

    def __init__(self, case):
        self.data, self.trust_file, self.arguments = case.data, case.trust, case.options


def uses_the_words_of_capbundle(page):
    """For the sample, the forgeries and files that are damaged in other ways: the lines that `verify` prints."""
    page.open()
    page.choose(KEY, input="trust-files")
    page.capbundle("trust", "add", "device", KEY)
    whole = SAMPLE.read_bytes()
    damaged = {
        "cut.bundle": whole[:5000], "more.bundle": whole + b"x", "empty.bundle": b"",
        "padding.bundle": whole[:-1030] + b"x" + whole[-1029:], "version.bundle": whole.replace(b"version=1\n", b"version=2\n", 1),
    }
    for name, data in damaged.items():
        (page.folder / name).write_bytes(data)
    files = [SAMPLE, *FORGERIES, *(page.folder / name for name in damaged)]
    for path in files if IS_LONG else files[::3]:
        page.open()
        page.choose(KEY, input="trust-files")
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


def never_trusts_a_file_that_was_given_as_a_bundle(page):
    page.open()
    page.choose(KEY, SAMPLE)
    expect(page.ask("return document.querySelectorAll('.tiles .good').length") == 0, "the key is trusted")
    expect(page.ask("return document.querySelectorAll('#devices li').length") == 0, "the key is listed")


TESTS = [
    ("every vector that is a bundle has its exit code and its codes, and the report of capbundle", judges_every_vector),
    ("its verdicts on mutants are those of the second implementation", agrees_on_mutants),
    ("its words are those of capbundle", uses_the_words_of_capbundle),
    ("a file that was given as a bundle is never trusted", never_trusts_a_file_that_was_given_as_a_bundle),
]
