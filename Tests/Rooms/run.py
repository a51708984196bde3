"""Checks the folders of each Swift target: no two of them use each other, and they stay small.

A folder uses another one if a file names a type that only the other one declares, or a member (`.name`) that only an
extension in the other one declares. This reads text and not what a compiler knows: a name that two folders or two
targets declare, and a name of the standard library, are not followed.
"""
import collections
import re

from Kit.outcomes import ROOT, expect
from Kit.suite import Lines

FOLDERS, FOLDER_LINES, TARGET_LINES = 14, 1500, 9000
# What is larger today. A number here may only become smaller.
LARGER = {"CaptureBundle": (14, 9770), "CaptureQueue": (14, 9360)}
WORDS = r"(?:(?:(?:public|package|internal|fileprivate|private)(?:\(set\))?|final|indirect|nonisolated|static|mutating|@\w+(?:\([^)]*\))?)\s+)*"
TYPE = re.compile(rf"^{WORDS}(?:struct|class|enum|protocol|actor|typealias)\s+([A-Z]\w*)", re.M)
MEMBER = re.compile(rf"^ *{WORDS}(?:func|var|let|case)\s+(\w+)", re.M)
EXTENSION = re.compile(rf"^{WORDS}extension\s+([\w.]+)[^\n]*\{{\n(.*?)^\}}", re.M | re.S)
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"', re.S)
# Members of the standard library, of Foundation and of swift-system that extensions of ours are called like.
STANDARD = {"appending", "bytes", "contains", "description", "index", "name", "path", "string", "text", "value"}


class Target:
    """The files of a target, and the folder of each: the first part of its path, or nothing."""

    def __init__(self, folder):
        self.folder, self.texts, self.rooms = folder, {}, {}
        for file in sorted(folder.rglob("*.swift")):
            parts = file.relative_to(folder).parts
            self.rooms[file] = parts[0] if len(parts) > 1 else ""
            self.texts[file] = NOISE.sub(" ", file.read_text())
        self.names = {name for text in self.texts.values() for name in MEMBER.findall(text)}

    def owners(self):
        """The folders that declare each type, and the folders that declare each member."""
        types, members = collections.defaultdict(set), collections.defaultdict(set)
        for file, text in self.texts.items():
            for name in TYPE.findall(text):
                types[name].add(self.rooms[file])
            for name in MEMBER.findall(text):
                members[name].add(self.rooms[file])
        return types, members

    def arrows(self, elsewhere):
        """Which names of other folders each folder uses: {from: {to: {name}}}, without members called `elsewhere`."""
        types, members = self.owners()
        extended = {name for text in self.texts.values() for kind, body in EXTENSION.findall(text)
                    for name in MEMBER.findall(body) if re.search(rf"^    {WORDS}(?:func|var)\s+{name}\b", body, re.M)}
        found = collections.defaultdict(lambda: collections.defaultdict(set))
        for file, text in self.texts.items():
            room = self.rooms[file]
            used = [(name, types[name]) for name in set(re.findall(r"\b[A-Z]\w*\b", text)) & types.keys()]
            used += [(f".{name}", members[name]) for name in set(re.findall(r"\.(\w+)\b", text)) & extended - STANDARD - elsewhere]
            for name, homes in used:
                if len(homes) == 1 and room not in homes:
                    found[room][next(iter(homes))].add(f"{name} in {file.name}")
        return found

    def lines(self):
        lines = collections.Counter()
        for file in self.texts:
            lines[self.rooms[file]] += 0 if file.is_symlink() else len(file.read_text().splitlines())
        return lines


def circles(arrows):
    """Groups of folders that reach one another."""
    reach = {room: set() for room in set(arrows) | {to for each in arrows.values() for to in each}}
    for start in reach:
        todo = [start]
        while todo:
            for following in arrows.get(todo.pop(), {}):
                if following not in reach[start]:
                    reach[start].add(following)
                    todo.append(following)
    return sorted({tuple(sorted(b for b in reach[a] if a in reach[b])) for a in reach if a in reach[a]})


def one_way(target, others):
    arrows = target.arrows({name for other in others if other is not target for name in other.names})
    for group in circles(arrows):
        inside = [f"{a} → {b}: {', '.join(sorted(names)[:4])}" for a in group
                  for b, names in sorted(arrows[a].items()) if b in group]
        expect(False, f"{', '.join(map(repr, group))} use each other; {'; '.join(inside)}")


def small(target, _):
    name, lines = target.folder.name, target.lines()
    folders, most = LARGER.get(name, (FOLDERS, TARGET_LINES))
    expect(len(lines.keys() - {"", "Text"}) <= folders, f"has {len(lines)} folders, at most {folders} are allowed")
    expect(lines.total() <= most, f"has {lines.total()} lines, at most {most} are allowed")
    for room, count in lines.items():
        limit = LARGER.get(f"{name}/{room}", FOLDER_LINES)
        expect(count <= limit or room in ("", "Commands"), f"{room} has {count} lines, at most {limit} are allowed")


def named_files():
    """The way of a byte (CONTRIBUTING) and behaviours.txt name files that are there."""
    way = (ROOT / ".github/CONTRIBUTING.md").read_text().partition("## The way of a byte")[2].partition("\n## ")[0]
    names = re.findall(r"`(\w+/[^`]+)`", way)
    listed = (ROOT / "Tests/Rooms/behaviours.txt").read_text().splitlines()
    names += [line.rpartition(" | ")[2] for line in listed if not line.startswith("#")]
    missing = [name for name in names if not (ROOT / "Sources" / name).exists()]
    expect(len(names) > 40 and not missing, f"of {len(names)} files these are missing: {missing}")


def events_of_a_run():
    """The table of Spec/queue.md section 13.1 names the events that RunState has, and RunState is a value."""
    table = (ROOT / "Spec/queue.md").read_text().partition("### 13.1")[2].partition("\n## ")[0]
    listed = re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `")))
    texts = [NOISE.sub(" ", file.read_text()) for file in sorted((ROOT / "Sources/QueueModel/Running").glob("RunState*.swift"))]
    events = re.findall(r"^    package mutating func (\w+)", "\n".join(texts), re.M)
    expect(len(events) > 20 and sorted(listed) == sorted(events), f"listed differently: {sorted(set(listed) ^ set(events))}")
    used = set(re.findall(r"^(?:\w+ )?import (\w+)", "\n".join(texts), re.M))
    expect(used == {"CaptureBundle"}, f"imports {sorted(used)}")


def main():
    lines = Lines()
    lines.run("the way of a byte: its files are there", named_files)
    lines.run("the events of a run: Spec lists them", events_of_a_run)
    folders = [folder for folder in sorted((ROOT / "Sources").iterdir()) if any(folder.rglob("*.swift"))]
    targets = [Target(folder) for folder in [*folders, ROOT / "Samples/Receiver/Sources/receiver"]]
    for target in targets:
        lines.run(f"{target.folder.name}: its folders use each other one way", one_way, target, targets)
        lines.run(f"{target.folder.name}: it and its folders are small", small, target, targets)
    return lines.close()
