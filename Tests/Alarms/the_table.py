"""No line of the table without a cause, no cause without a line, and no concern or alert that the table does not have."""
import re

from Alarms.alerts import RULES
from Alarms.lines import table
from Kit.outcomes import ROOT, expect
from Kit.suite import families

CODE = re.compile(r"^\| (`[a-z.]+`(?:, `[a-z.]+`)*) \|", re.M)


def complete(_):
    causes = [title for name, family in families("Alarms") if name != "the_table" for title, _ in family.TESTS]
    expect(len(causes) == len(set(causes)), "a cause is there twice")
    lines = set(table())
    expect(lines == set(causes), f"only in the table: {lines - set(causes)}, only in the tests: {set(causes) - lines}")
    reds = [line for line in table().values() if line]
    section = (ROOT / "Spec/capqueue.md").read_text().partition("### 3.1")[2].partition("\n## ")[0]
    codes = {code for names in CODE.findall(section) for code in re.findall("[a-z.]+", names)}
    named = {code for line in reds for code in line.concerns}
    expect(codes == named, f"concerns without a line: {codes - named}, unknown ones: {named - codes}")
    rules = set(re.findall(r"alert: (\w+)", RULES.read_text()))
    fired = {name for line in reds for name in line.alerts}
    expect(rules == fired, f"alerts without a line: {rules - fired}, unknown ones: {fired - rules}")


TESTS = [("each line has a cause, and each cause, concern and alert a line", complete)]
