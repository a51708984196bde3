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
    @Test(.long) func endsWithItsVerdictHoweverManyThreadsItHad() throws {
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
        for (limit, jobs) in isLongRun ? [(40, 64), (64, 2), (200, 16)] : [(40, 64)] {
            let packed = try tool.shell(
                "ulimit -n \(limit); capbundle pack raws/* --out-dir out\(limit) --jobs \(jobs)")
            #expect(packed.exitCode == 0, "\(packed.errorText)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: tool.folder.path("out\(limit)")).count == 80)
        }
    }
}
