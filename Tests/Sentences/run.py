"""Checks that nothing is decided by the text of a sentence: reword a message, and no behaviour changes.

Where a caller branches, an error has a code or a cause, and a file has a kind with values. Other programs and libraries
often say only in words what went wrong; a few named files read those. Each code stands in the Spec.
"""
import re

from Kit.outcomes import ROOT

# Files that read what others say: whose words these are.
OTHERS = {
    "CurlClient/CurlSession.swift": "libcurl", "QueueTransports/HTTP/TransferWords.swift": "libcurl",
    "PictureDecoding/JPEGDecoder.swift": "libjpeg", "PictureDecoding/TarSource.swift": "libarchive",
    "PictureDecoding/TarUnpacker.swift": "libarchive", "CommandSupport/ArgumentExamples.swift": "ArgumentParser",
    "CaptureNative/OpenSSL/HardwareKey.swift": "OpenSSL", "QueueTransports/HTTP/AnswerWords.swift": "servers",
}
# What has a sentence in it, in most files and where a library's words arrive. Elsewhere `text` is often a setting's value.
SENTENCE = r'(?:\b(?:message|words|wording|sentence|receipt|(?:error|failure|fault)\??\.(?:text|description))|"\\\(error\)")'
LIBRARY = r"\b(?:message|text|told|details)"
LIBRARIES = ("PictureDecoding/", "CurlClient/", "CaptureNative/OpenSSL/", "QueueTransports/HTTP/AnswerWords")
# What decides by it: a search in it, or a comparison with a literal. Then forms in which it stands elsewhere.
DECIDES = r'(?:\(\))?[?!]?(?:\s*\.(?:lowercased\(\)|utf8))*' \
          r'(?:\s*\.(?:has(?:Pre|Suf)fix|contains|starts|range|pieces\(around)\b|(?: \?\? "")?\)*\s*[!=]=\s*#?")'
ELSEWHERE = r'"\s*[!=]=\s*\w+\??\.(?:message|words)\b|\.map\(\w+\.message\)\s*[!=]=|\bswitch [\w.?]*\b(?:message|words) \{' \
            r"|\.(?:has(?:Pre|Suf)fix|contains)\(\w+Words\)|\b(?:WHERE|AND|OR|GROUP BY)\s+\w+_message\b"
# What is left out is a comment.
PIECE = re.compile(r'("""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
# What must be found, and what must not be.
PLANTED = ['if error.message.contains("a lock") {', 'guard kind?.words.hasPrefix("an 8-bit") == true', 'error.text == "x"',
           'words.first { block.message.lowercased().contains($0) }', 'fault.message.hasPrefix("\\($0) is missing")',
           'if "no such file" == error.message {', 'switch error.message {', 'causes.allSatisfy { $0.hasPrefix(ownWords) }',
           'receipt?.contains(#""a":"b""#) ?? false', 'kinds.contains(where: message.contains)', '(kind?.words ?? "") == "x"',
           'message.pieces(around: "\\(words) ")', '"\\(error)".contains("busy")', 'error.message\n    .hasSuffix(".")',
           'roots.map(Absence.message) != $0', '"""\n  SELECT 1\n  WHERE error_message = ?\n  """']
HARMLESS = ['// error.message.contains("a lock")', 'if words.count == 6, words[5] == "GMT" {', 'text.hasSuffix("Z")',
            'EVP_DigestSign(context, $0, &length, message, message.count)', 'error.code == .inputOutput', 'words.isEmpty',
            'SET error_code = NULL, error_message = ?', 'let message = "a" + words.joined(separator: " ")',
            'faults.contains { $0.code == .x }', 'throw wrong(path, "\\(found), expected a PNG")', 'words == other.words']


WORDS = re.compile(r"^(?:package |public )?extension (\w+\.(?:Cause|Code)) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
REMARK = re.compile(r'\.(?:warning|note),\s*(?:code: )?"(\w+\.\w+)"|static let \w+ = "(\w+\.\w+)"')


def twice(files):
    """The words that two causes or two codes of an error have: a caller would take one for the other."""
    words = [f"{kind} {word}" for file in files for kind, body in WORDS.findall(file.read_text())
             for word in re.findall(r'Self\("([^"]+)"\)', body)]
    return sorted({word for word in words if words.count(word) > 1}), len(words)


def unlisted(files):
    """The codes of errors and remarks that no page of the Spec names, and the number of all codes."""
    texts = [file.read_text() for file in files]
    codes = {word for text in texts for kind, body in WORDS.findall(text) if kind.endswith("Code")
             for word in re.findall(r'Self\("([^"]+)"\)', body)}
    codes |= {word for text in texts for words in REMARK.findall(text) for word in words if word}
    named = {word for page in (ROOT / "Spec").glob("*.md") for word in re.findall(r"`([\w.]+)`", page.read_text())}
    return sorted(codes - named), len(codes)


def findings(text, name=""):
    """Yields the number of each line that decides by words, and the line."""
    code = PIECE.sub(lambda piece: piece[1] or re.sub(r"[^\n]", "", piece[0]), text)
    sentence = LIBRARY if name.startswith(LIBRARIES) else SENTENCE
    for found in re.finditer(f"{sentence}{DECIDES}|{ELSEWHERE}", code):
        number = code.count("\n", 0, found.start()) + 1
        yield number, code.splitlines()[number - 1].strip()


def main():
    faults = [f"is not found: {text}" for text in PLANTED if not any(findings(text))]
    faults += [f"is found: {text}" for text in HARMLESS if any(findings(text))]
    files = [file for file in sorted((ROOT / "Sources").rglob("*.swift")) if not file.is_symlink()]
    same, count = twice(files)
    faults += [f"two have this word: {word}" for word in same]
    faults += [] if count > 200 else [f"only {count} causes and codes are found"]
    absent, codes = unlisted(files)
    faults += [f"is in no page of the Spec: {word}" for word in absent]
    faults += [] if codes > 150 else [f"only {codes} codes are found"]
    found = {str(file.relative_to(ROOT / "Sources")): [] for file in files}
    for name, lines in found.items():
        lines += findings((ROOT / "Sources" / name).read_text(), name)
    faults += [f"Sources/{name}:{number}: decides by the text of a sentence: {line}" for name, lines in found.items()
               if name not in OTHERS for number, line in lines]
    faults += [f"Sources/{name} decides by no sentence: take it off the list of Tests/Sentences"
               for name in sorted(OTHERS) if not found.get(name)]
    for fault in faults:
        print(f"FAIL {fault}")
    print(f"{len(found)} passed, {len(faults)} failed")
    return 1 if faults else 0
