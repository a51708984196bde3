import CaptureTestSupport
import Foundation
import Testing

/// Tests with many files in one call of the real tool.
struct ManyCommandTests {
    private let tool: Capbundle
    private let vector: VectorFile

    init() throws {
        tool = try Capbundle()
        vector = try VectorFile(Places.vectors.appending(path: "valid/valid_minimal"))
        try tool.folder.write(vector.trustFile, to: "trust")
    }

    /// OpenSSL's exit handlers must not run while threads are still ending: that broke about one run in ten.
    @Test func endsWithItsVerdictHoweverManyThreadsItHad() throws {
        for index in 0..<300 { try tool.folder.write(vector.content, to: "many/\(index)") }
        let line = "find many -type f -print0 | capbundle verify --quiet --from0 --trust trust --jobs"
        for jobs in [2, 16, 64, 256] {
            for _ in 0..<10 { #expect(try tool.shell("\(line) \(jobs)").exitCode == 0) }
        }
    }

    /// Each bundle that waits for its final name is an open file.
    @Test func packsWithFewOpenFiles() throws {
        for index in 0..<80 { try RawFolder.write(to: tool.folder, name: "raws/\(index)") }
        #expect(try tool.run("key", "new").exitCode == 0)
        for (limit, jobs) in [(40, 64), (64, 2), (200, 16)] {
            let packed = try tool.shell(
                "ulimit -n \(limit); capbundle pack raws/* --out-dir out\(limit) --jobs \(jobs)")
            #expect(packed.exitCode == 0, "\(packed.errorText)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: tool.folder.path("out\(limit)")).count == 80)
        }
    }

    /// A new bundle file once got the number of a closed stream, and messages were written into it.
    @Test(arguments: ["<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-", "2>&-"])
    func keepsMessagesOutOfBundlesWhereStreamsAreClosed(_ closing: String) throws {
        for index in 0..<60 {
            try RawFolder.write(to: tool.folder, name: "raws/\(index)")
            try tool.folder.write("x", to: "raws/\(index)/other.txt")
        }
        #expect(try tool.run("key", "new").exitCode == 0)
        _ = try tool.shell("capbundle pack raws/* --out-dir out --jobs 4 \(closing)")
        let verified = try tool.shell("capbundle verify --json out/* | grep -c '\"verdict\":\"unknown-device\"'")
        #expect(verified.outputText == "60\n")
    }

    /// A run over many files prints what a run for each file prints, in the order of the names.
    @Test func tellsWhatEachFileAloneWouldTell() throws {
        let parts = try ["valid", "entry", "assertion", "container"].flatMap { try VectorFile.all(of: $0) }.prefix(120)
        for (index, part) in parts.enumerated() { try tool.folder.write(part.content, to: "v/\(1000 + index)") }
        let names = parts.indices.map { "v/\(1000 + $0)" }
        let alone = try names.map { try tool.run("verify", "--json", "--trust", "trust", $0).outputText }.joined()
        for jobs in ["1", "3"] {
            let together = try tool.run(["verify", "--json", "--trust", "trust", "--jobs", jobs] + names)
            #expect(together.outputText == alone)
        }
    }
}
