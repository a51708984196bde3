import CaptureTestSupport
import Foundation
import Testing

/// The real tool comes to the expected result for every file of Spec/Vectors, read from a file and from a pipe.
struct VectorCommandTests {
    @Test(arguments: try VectorFile.bundles())
    func givesTheSameReportForAFileAndAPipe(_ vector: VectorFile) throws {
        let tool = try Capbundle()
        try tool.folder.write(vector.content, to: "v")
        try tool.folder.write(vector.trustFile, to: "trust")
        let options = ["verify", "--json", "--trust", "trust"] + vector.arguments
        let file = try tool.run(options + ["v"])
        let pipe = try tool.run(options + ["-"], input: vector.content)
        #expect(file.exitCode == Int32(vector.expectedExit), "\(file.outputText)\(file.errorText)")
        #expect(pipe.exitCode == file.exitCode)
        #expect(file.outputText.replacing("\"file\":\"v\"", with: "\"file\":\"-\"") == pipe.outputText)
        if vector.expectedExit != 78 {
            for code in vector.expectedCodes { #expect(file.outputText.contains("\"code\":\"\(code)\"")) }
            let page = try tool.run(["verify", "--trust", "trust"] + vector.arguments + ["v"])
            #expect(page.exitCode == file.exitCode)
            let shown = try tool.run("show", "v")
            #expect(shown.exitCode == ([1, 2].contains(file.exitCode) ? file.exitCode : 0), "\(shown.outputText)")
        }
    }

    /// The order of the files, the number of threads and the form of the output do not change the result.
    @Test(arguments: try VectorFile.all(of: "chain"))
    func judgesTheChainOfAllFiles(_ vector: VectorFile) throws {
        let tool = try Capbundle()
        try tool.folder.write(vector.trust.map { $0 + "\n" }.joined(), to: "trust")
        let contents = [vector.content] + vector.sides
        for (index, content) in contents.enumerated() { try tool.folder.write(content, to: "f/\(index).bundle") }
        let files = contents.indices.map { "f/\($0).bundle" }
        let runs = try [
            tool.run(["chain", "--json", "--trust", "trust"] + files),
            tool.run(["chain", "--json", "--jobs", "1", "--trust", "trust"] + files.reversed()),
            tool.run("chain", "--json", "--trust", "trust", "f"),
        ]
        for run in runs {
            #expect(run.exitCode == Int32(vector.expectedExit), "\(run.outputText)\(run.errorText)")
            guard run.exitCode != 78 else { continue }
            let codes = run.outputText.matches(of: /"code":"([a-z_.]+)"/).map { String($0.1) }
            #expect(Set(codes).sorted() == vector.expectedCodes)
            #expect(run.outputText.hasSuffix("\"without_link\":\(vector.name == "chain/chain_without" ? 1 : 0)}\n"))
        }
        let text = try tool.run("chain", "--trust", "trust", "f")
        #expect(text.exitCode == runs[0].exitCode)
        for code in vector.expectedCodes where code != "trust.file" { #expect(text.outputText.contains("[\(code)]")) }
        let quiet = try tool.run("chain", "-q", "--trust", "trust", "f")
        #expect(quiet.exitCode == runs[0].exitCode && quiet.standardOutput.isEmpty)
    }

    @Test(arguments: try VectorFile.all(of: "multipart"))
    func putsABundleTogetherAndTakesItApartAgain(_ vector: VectorFile) throws {
        let tool = try Capbundle()
        try tool.folder.write(vector.content, to: "body")
        try tool.folder.write(vector.trustFile, to: "trust")
        let options = ["from-body", "--json", "--trust", "trust"] + vector.arguments
        let file = try tool.run(options + ["body", "-o", "made"])
        #expect(file.exitCode == Int32(vector.expectedExit), "\(file.outputText)\(file.errorText)")
        let isMade = FileManager.default.fileExists(atPath: tool.folder.path("made"))
        #expect(isMade == (vector.bundleSHA256 != nil))
        if vector.expectedExit != 78 {
            for code in vector.expectedCodes { #expect(file.outputText.contains("\"code\":\"\(code)\"")) }
        }
        let pipe = try tool.run(options + ["-", "-o", "piped"], input: vector.content)
        #expect(pipe.exitCode == file.exitCode)
        let same = file.outputText.replacing("\"file\":\"body\"", with: "\"file\":\"-\"")
            .replacing("\"output\":\"made\"", with: "\"output\":\"piped\"")
        #expect(same == pipe.outputText)
        if isMade {
            #expect(try tool.run("multipart", "made", "-o", "again").exitCode == 0)
            #expect(try tool.folder.bytes("again") == vector.content)
            #expect(try tool.folder.bytes("piped") == tool.folder.bytes("made"))
        }
    }
}
