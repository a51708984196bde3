import CaptureTestSupport
import Foundation
import Testing

/// `verify --state` with the real tool.
struct StateCommandTests {
    @Test(arguments: try VectorFile.all(of: "state"))
    func givesTheSameReportForAFileAndAPipe(_ vector: VectorFile) throws {
        let tool = try Capbundle()
        try tool.folder.write(vector.content, to: "v")
        try tool.folder.write(vector.trust.map { $0 + "\n" }.joined(), to: "trust")
        for (index, side) in vector.sides.enumerated() {
            try tool.folder.write(side, to: "side")
            for state in ["file", "pipe"] {
                let first = try tool.run("verify", "--trust", "trust", "--state", state, "side")
                #expect(first.errorText.contains("is new") == (index == 0))
            }
        }
        let options = ["verify", "--json", "--trust", "trust"] + vector.arguments
        let file = try tool.run(options + ["--state", "file", "v"])
        let pipe = try tool.run(options + ["--state", "pipe", "-"], input: vector.content)
        #expect(file.exitCode == Int32(vector.expectedExit), "\(file.outputText)\(file.errorText)")
        #expect(pipe.exitCode == file.exitCode)
        #expect(file.outputText.replacing("\"file\":\"v\"", with: "\"file\":\"-\"") == pipe.outputText)
        for code in vector.expectedCodes { #expect(file.outputText.contains("\"code\":\"\(code)\"")) }
    }

    /// Side files and bundle in one run give the same verdicts as in runs of their own.
    @Test(arguments: try VectorFile.all(of: "state").filter { $0.arguments.isEmpty })
    func comparesBundlesInTheOrderOfTheInput(_ vector: VectorFile) throws {
        let tool = try Capbundle()
        try tool.folder.write(vector.trust.map { $0 + "\n" }.joined(), to: "trust")
        let names = (vector.sides + [vector.content]).indices.map { "\($0)" }
        for (name, content) in zip(names, vector.sides + [vector.content]) { try tool.folder.write(content, to: name) }
        for jobs in ["1", "4"] {
            let options = ["--trust", "trust", "--json", "--state"]
            let together = try tool.run(["verify", "--jobs", jobs] + options + ["together\(jobs)"] + names)
            let alone = try names.map { try tool.run(["verify"] + options + ["alone\(jobs)", $0]).outputText }
            #expect(together.outputText == alone.joined())
        }
    }
}
