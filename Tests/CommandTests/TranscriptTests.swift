import CaptureTestSupport
import Foundation
import Testing

/// Sessions with the real tool, one in each file of Transcripts/: `$` a command line, `1>` and `2>` its output on
/// standard output and standard error, `=` its exit code. `CAPBUNDLE_RECORD=1` records them again; then read the
/// difference.
struct TranscriptTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Transcripts")
    private static let isRecording = ProcessInfo.processInfo.environment["CAPBUNDLE_RECORD"] == "1"

    static let names: [String] = ["capbundle", "capqueue"].flatMap { tool in
        ((try? folder.appending(path: tool).children) ?? []).map { "\(tool)/\($0.lastPathComponent)" }
    }

    @Test func thereAreTranscriptsOfBothTools() { #expect(Set(Self.names.map { $0.prefix { $0 != "/" } }).count == 2) }

    @Test(arguments: names)
    func goesAsRecorded(_ name: String) throws {
        let file = Self.folder.appending(path: name)
        let recorded = try String(contentsOf: file, encoding: .utf8)
        let tool = try Capbundle(isQueue: name.hasPrefix("capqueue"))
        try RawFolder.write(to: tool.folder)
        var played: [String] = []
        for line in recorded.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("$ ") {
                let result = try tool.shell(String(line.dropFirst(2)))
                played.append(line)
                played += Self.lines(result.outputText, "1> ", tool)
                played += Self.lines(result.errorText, "2> ", tool)
                played.append("= \(result.exitCode)")
            } else if !["1> ", "2> ", "= "].contains(where: line.hasPrefix) && line != "1>" && line != "2>" {
                played.append(line)
            }
        }
        let text = played.joined(separator: "\n")
        if Self.isRecording {
            try text.write(to: file, atomically: true, encoding: .utf8)
        } else if text != recorded {
            let lines = [text, recorded].map { $0.split(separator: "\n", omittingEmptySubsequences: false) }
            let same = zip(lines[0], lines[1]).prefix { $0 == $1 }.count
            let found = lines.map { $0.dropFirst(same).first ?? "the end" }
            #expect(found[0] == found[1], "line \(same + 1)")
        }
    }

    /// Replaces everything that differs between runs by a word: keys, hashes of signed bytes, the folder.
    private static func lines(_ text: String, _ mark: String, _ tool: Capbundle) -> [String] {
        guard !text.isEmpty else { return [] }
        var plain = text.replacing(tool.folder.path, with: "<folder>")
            .replacing(/[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/, with: "<id>")
            .replacing(/[0-9a-f]{64}/, with: "<hash>")

            .replacing(/[A-Za-z0-9+\/]{87}=/, with: "<point>")
        // Replace the times that the queue recorded, and keep the times of the captures.
        if tool.isQueue {
            plain = plain.replacing(/20(?!26-03-14)[0-9-]{8}T[0-9:.]{8,12}Z/, with: "<time>")
                .replacing(/[0-9,]+ bytes(?: are)? free/, with: "<room> bytes free")
                .replacing(/encryption {4}[a-z -]+/, with: "encryption    <kind>")
                .replacing(/\b[0-9a-f]{2}\/<hash>\.(bundle|json)/) { "<shard>/<hash>.\($0.1)" }
                .replacing(/(waits|waited) for [0-9]+ s\b/) { "\($0.1) for <age>" }
                .replacing(/\ in [0-9]+\.[0-9] s\b/, with: " in <duration>")
                .replacing(/capqueue: note: SQLite [0-9.]+ has a bug .*\n/, with: "")
                .replacing(/"sqlite":"[0-9.]+"/, with: "\"sqlite\":\"<version>\"")
        }
        var lines = plain.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last == "" { lines.removeLast() }
        return lines.map { $0.isEmpty ? String(mark.prefix(2)) : mark + $0 }
    }
}
