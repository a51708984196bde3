"""Checks that the tests named in Spec/queue-faults.md exist, and that each fault has a test or says why not.

usage: Tests/run.py Documents/faults

A test is written `FILE`: TITLE, where FILE is below Tests/ without .py, or `TYPE`: FUNCTION for Swift. Titles are read
from the list TESTS without running them; if code builds a title, its fixed words must match.
"""
import ast
import re

from Kit.outcomes import ROOT

PAGE = ROOT / "Spec/queue-faults.md"
NAMED = re.compile(r"`([\w/]+)`(?:: (.+))?")


def rows():
    """Yields the cells of each row of the tables."""
    for line in PAGE.read_text().splitlines():
        if line.startswith("| ") and not line.startswith("| fault |"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def titles_of(path):
    """Returns patterns for the titles of a Python file, the first element of each pair in its lists."""
    for statement in ast.parse(path.read_text()).body:
        targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
        if isinstance(statement, (ast.Assign, ast.AugAssign)) and getattr(targets[0], "id", None) == "TESTS":
            pairs = (node for node in ast.walk(statement.value) if isinstance(node, ast.Tuple) and len(node.elts) == 2)
            for pair in pairs:
                yield from pattern_of(pair.elts[0])


def pattern_of(title):
    if isinstance(title, ast.Constant) and isinstance(title.value, str):
        yield re.escape(title.value)
    elif isinstance(title, ast.JoinedStr):
        yield "".join(re.escape(part.value) if isinstance(part, ast.Constant) else ".*" for part in title.values)


def functions_of(name):
    """Returns the functions of a Swift test type anywhere below Tests/; None if there is no such type."""
    found = [text for path in sorted(ROOT.glob("Tests/**/*.swift"))
             if re.search(rf"^(?:@Suite.* )?(?:final )?(?:struct|class) {name}\b", text := path.read_text(), re.M)]
    return {function for text in found for function in re.findall(r"@Test\b[^{}]*?\bfunc (\w+)", text)} if found else None


def fault_of(named):
    """Returns the problem with a named test, or None if it exists."""
    match = NAMED.fullmatch(named)
    if not match:
        return f"is not written `FILE`: TITLE: {named}"
    name, title = match.groups()
    path = ROOT / f"Tests/{name}.py"
    if path.is_file():
        if title is None or any(re.fullmatch(pattern, title) for pattern in titles_of(path)):
            return None
        return f"Tests/{name}.py has no test {title!r}"
    functions = functions_of(name) if "/" not in name else None
    if functions is None:
        return f"there is neither a file Tests/{name}.py nor a Swift test type {name}"
    return None if title in functions else f"{name} has no test {title!r}"


def main():
    passed = failed = 0
    for fault, *cells in rows():
        wrong = [] if len(cells) == 2 else [f"the row has {len(cells) + 1} cells, expected 3"]
        # If a row has no test, its second cell says why.
        for named in [] if wrong or cells[1] == "none" and "not supported" in cells[0].lower() else cells[1].split("<br>"):
            wrong += [problem for problem in [fault_of(named)] if problem]
            passed += 1
        for problem in wrong:
            print(f"FAIL {PAGE.name}: {fault[:60]}: {problem}")
        failed += len(wrong)
    if not passed:
        print(f"FAIL {PAGE.name} names no test")
        failed += 1
    print(f"{max(0, passed - failed)} passed, {failed} failed")
    return 1 if failed else 0
