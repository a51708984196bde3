import CaptureTestSupport
import Foundation
import Testing

/// The real tool comes to the expected result for every file of Spec/Vectors, read from a file and from a pipe.
struct VectorCommandTests {
    @Test(arguments: try VectorFile.bundles())
    func givesTheSameReportForAFileAndAPipe(_ vector: VectorFile) throws {
        let tool = try Capbundle()
        try tool.folder.write(vector.content, to: "v")
        try tool.folder.write(vector.trust.map { $0 + "\n" }.joined(), to: "trust")
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

    @Test(arguments: try VectorFile.all(of: "multipart"))
    func putsABundleTogetherAndTakesItApartAgain(_ vector: VectorFile) throws {
        let tool = try Capbundle()
        try tool.folder.write(vector.content, to: "body")
        try tool.folder.write(vector.trust.map { $0 + "\n" }.joined(), to: "trust")
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
