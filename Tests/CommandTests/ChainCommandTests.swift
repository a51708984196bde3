import CaptureTestSupport
import Foundation
import Testing

/// The output of `capbundle chain`, and the drawing in the report, for the side files of the vectors.
struct ChainCommandTests {
    private let tool: Capbundle

    init() throws {
        tool = try Capbundle()
        let vector = try VectorFile(Places.vectors.appending(path: "chain/chain_whole"))
        try tool.folder.write(vector.trust.map { $0 + "\n" }.joined(), to: "trust")
    }

    /// Copies side files of the vectors into the folder `archive`.
    private func archive(_ names: String...) throws {
        for name in names {
            let bytes = try Places.vectors.appending(path: "side/chain_\(name)").bytes
            try tool.folder.write(bytes, to: "archive/\(name).bundle")
        }
    }

    /// The output with the key id replaced by a word.
    private func text(_ arguments: String...) throws -> String {
        try tool.run(["chain", "--trust", "trust"] + arguments).outputText
            .replacing(/key [0-9a-f]{64}/, with: "key <id>")
    }

    @Test func printsRangesAndFaultsInOrder() throws {
        try archive("1", "2", "2_signed_again", "4", "5", "last")
        try tool.folder.write(tool.folder.bytes("archive/5.bundle"), to: "archive/copy.bundle")
        #expect(
            try text("archive") == """
                device studio, key <id>
                  links 1 to 2
                  fault: link 3 is missing between archive/2.bundle (link 2) and archive/4.bundle (link 4) [chain.gap]
                  links 4 to 5
                  fault: links 6 to 9007199254740990 are missing between archive/5.bundle (link 5) and \
                archive/last.bundle (link 9007199254740991) [chain.gap]
                  link 9007199254740991
                  5 links in 7 files, 9007199254740986 missing, 2 faults
                  newest: link 9007199254740991 in archive/last.bundle, counter 4294967295, 2026-03-14T08:26:53.589Z
                7 bundles: 7 in 1 chain; 2 faults in the chains
                contents: not checked; use "capbundle verify"
                newer links cannot be seen here: compare with "capbundle key show" on the device

                """)
    }

    @Test func namesAnUnknownAndARevokedKeyInWords() throws {
        try archive("1", "2", "other_1", "other_2")
        let other = try #require(
            try VectorFile(Places.vectors.appending(path: "chain/chain_two_devices")).trust.last)
        try tool.folder.write(other.replacing("other ", with: "other revoked ") + "\n", to: "trust")
        let run = try tool.run("chain", "--trust", "trust", "archive")
        #expect(run.exitCode == 0)
        #expect(run.outputText.contains("device not in the trust file, key "))
        #expect(run.outputText.contains("device other (revoked), key "))
        #expect(run.outputText.contains("4 bundles: 4 in 2 chains; no fault in the chains"))
        let json = try tool.run("chain", "--json", "--trust", "trust", "archive").outputText
        #expect(json.contains(#""trusted":"no""#) && json.contains(#""device":"other""#))
        #expect(json.contains(#""trusted":"revoked""#))
    }

    @Test func notesAMissingStart() throws {
        try archive("3", "4")
        let note = "  note: begins at link 3: links 1 to 2 are not among these files\n  2 links, no fault\n"
        #expect(try text("archive").contains(note))
    }

    @Test func printsALineOfJSONForEachLink() throws {
        try archive("1", "2", "2_signed_again", "4")
        try tool.folder.write("text", to: "archive/text.bundle")
        let run = try tool.run("chain", "--json", "--trust", "trust", "archive", "missing")
        #expect(run.exitCode == 66)
        let lines = run.outputText.replacing(/[0-9a-f]{64}/, with: "<id>").split(separator: "\n").map(String.init)
        let objects = try lines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(objects.allSatisfy { $0["report"] as? String == "capture-bundle/chain/1" })
        #expect(objects.map { $0["exit_code"] as? Int } == [2, 66, nil, nil, nil, nil, 66])
        #expect(objects.map { $0["seq"] as? Int } == [nil, nil, 1, 2, 4, nil, nil])
        #expect(objects.map { $0["copies"] as? Int } == [nil, nil, 1, 2, 1, 4, nil])
        #expect(objects.map { $0["counter"] as? Int } == [nil, nil, 1, 2, 4, nil, nil])
        // A link, the summary of a device with its fault, and the summary of all.
        for (line, words) in [
            (3, [#""file":"archive/2.bundle""#, #""device":"studio""#, #""captured_at":"2026-03-14T08:26:53.589Z""#]),
            (
                5,
                [#""first":1"#, #""last":4"#, #""links":3"#, #""missing":1"#, #""fault_count":1"#, #""trusted":"yes""#]
            ),
            (5, [#""code":"chain.gap""#, #""first":3"#, #""last":3"#, "link 3 is missing between archive"]),
            (5, [#""files":["archive/2.bundle","archive/4.bundle"]"#]),
            (6, [#""bundles":6"#, #""faulty":1"#, #""unreadable":1"#, #""devices":1"#, #""contents":"not-checked""#]),
        ] {
            for word in words { #expect(lines[line].replacing("\\/", with: "/").contains(word), "\(lines[line])") }
        }
    }

    @Test func leavesOutTemporaryNamesInFolders() throws {
        try archive("1", "2")
        try tool.folder.write("half a bundle", to: "archive/.3.bundle.1.tmp")
        try tool.folder.write(tool.folder.bytes("archive/2.bundle"), to: "archive/.folder.tmp/4.bundle")
        let run = try tool.run("chain", "archive")
        #expect(run.exitCode == 0)
        #expect(run.outputText.contains("2 bundles: 2 in 1 chain; no fault in the chains"))
        #expect(run.errorText.contains("left out 2 files"))
        let page = try tool.run("report", "--trust", "trust", "archive", "-o", "page.html")
        #expect(page.exitCode == 0 && page.errorText.contains("left out 2 files"))
        let named = try tool.run("chain", "archive/.3.bundle.1.tmp")
        #expect(named.exitCode == 2)
    }

    @Test func countsTheSymbolicLinksThatItLeavesOut() throws {
        try archive("1", "2")
        try FileManager.default.createDirectory(atPath: tool.folder.path("links"), withIntermediateDirectories: false)
        for name in ["1", "2"] {
            try FileManager.default.createSymbolicLink(
                atPath: tool.folder.path("links/\(name).bundle"), withDestinationPath: "../archive/\(name).bundle")
        }
        let run = try tool.run("chain", "links")
        #expect(run.exitCode == 66)
        #expect(run.errorText.contains("note: left out 2 symbolic links\n"))
        let search = "find -L links -type f -name '*.bundle' -print0 | capbundle chain --from0"
        #expect(run.errorText.contains("note: to follow links (add your other folders and options): \(search)\n"))
        let followed = try tool.shell(search)
        #expect(followed.exitCode == 0)
        #expect(followed.outputText.contains("2 bundles: 2 in 1 chain; no fault in the chains"))
        let page = try tool.run("report", "--trust", "trust", "archive", "links", "-o", "page.html")
        #expect(page.errorText.contains("note: left out 2 symbolic links\n"))
        #expect(try !tool.run("chain", "archive").errorText.contains("left out"))
    }

    /// Otherwise the program before the pipe ends by a signal.
    @Test func readsStandardInputToItsEnd() throws {
        try RawFolder.write(to: tool.folder, photo: RawFolder.photo + [UInt8](repeating: 0, count: 1 << 20))
        #expect(try tool.shell("capbundle key new && capbundle pack raw -o big.bundle").exitCode == 0)
        let run = try tool.shell("bash -o pipefail -c 'cat big.bundle | capbundle chain -'")
        #expect(run.exitCode == 0 && run.outputText.contains("1 bundle: 1 without a link"), "\(run.outputText)")
    }

    /// The names in messages come from outside.
    @Test func showsControlCharactersInNamesAsText() throws {
        try archive("2", "2_branch")
        try FileManager.default.moveItem(
            atPath: tool.folder.path("archive/2.bundle"), toPath: tool.folder.path("archive/a\u{1b}[31m\n.bundle"))
        let run = try tool.run("chain", "archive")
        #expect(run.exitCode == 4)
        #expect(run.outputText.contains("archive/a\\u{1b}[31m\\u{a}.bundle"))
        #expect(!run.standardOutput.contains(0x1b))
    }

    @Test func drawsTheChainInTheReport() throws {
        try archive("1", "2", "2_branch", "4", "5")
        let run = try tool.run("report", "--trust", "trust", "archive", "-o", "page.html")
        #expect(run.exitCode == 0)
        let page = try String(decoding: tool.folder.bytes("page.html"), as: UTF8.self)
        let drawing = try #require(page.firstMatch(of: /<ol class="chain"([\s\S]*?)<\/ol>/)).1
        let marks = drawing.matches(of: /<li class="([a-z ]+)">(?:<svg.*<\/svg> )?([^<]*)<\/li>/)
            .map { "\($0.1): \($0.2)" }
        #expect(
            marks == ["good: 1", "fork bad: 2 fork", "missing neutral: 3 missing", "good: 4", "good: 5"], "\(drawing)")
        #expect(page.contains("archive/2_branch.bundle and archive/2.bundle [chain.fork]"))
        #expect(page.contains("<p class=\"note\">5 links, 1 missing, 2 faults</p>"))
    }
}
