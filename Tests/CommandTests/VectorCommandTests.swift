import CaptureTestSupport
import Foundation
import Testing

/// The real tool comes to the expected result for every file of Spec/Vectors. It judges many files in one call;
/// VectorTests asks the library about each.
struct VectorCommandTests {
    /// The vectors that one call can judge: those with the same trust file and options.
    struct Group: CustomStringConvertible, Sendable {
        let vectors: [VectorFile]
        var description: String { "\(vectors[0].name) and \(vectors.count - 1) more" }
    }

    static func groups() throws -> [Group] {
        let byCall = Dictionary(grouping: try VectorFile.bundles()) { "\($0.arguments) \($0.trustFile)" }
        return byCall.values.map(Group.init).sorted { $0.description < $1.description }
    }

    private struct Report: Decodable {
        struct Fault: Decodable { let code: String }
        let verdict: String
        let faults: [Fault]
    }

    private static let words = ["verified", "altered", "malformed", "unknown-device", "unacceptable"]

    @Test(arguments: try groups())
    func judgesEachFileOfACallAsItsHeaderSays(_ group: Group) throws {
        let tool = try Capbundle()
        try tool.folder.write(group.vectors[0].trustFile, to: "trust")
        for (index, vector) in group.vectors.enumerated() { try tool.folder.write(vector.content, to: "v/\(index)") }
        let names = group.vectors.indices.map { "v/\($0)" }
        let run = try tool.run(["verify", "--json", "--trust", "trust"] + group.vectors[0].arguments + names)
        let expected = group.vectors.map(\.expectedExit)
        #expect(Int(run.exitCode) == [78, 2, 1, 3, 4, 0].first(where: expected.contains), "\(run.errorText)")
        guard run.exitCode != 78 else { return }
        let reports = try run.outputText.split(separator: "\n")
            .map { try JSONDecoder().decode(Report.self, from: Data($0.utf8)) }
        try #require(reports.count == group.vectors.count)
        for (report, vector) in zip(reports, group.vectors) {
            #expect(report.verdict == Self.words[vector.expectedExit], "\(vector)")
            #expect(Set(report.faults.map(\.code)).sorted() == vector.expectedCodes, "\(vector)")
        }
    }

    /// A pipe, a single file and `show` come to the same result: one vector for each verdict.
    @Test(
        arguments: try zip(["valid", "entry", "container", "trust", "policy"], 0...4).map { part, exit in
            try #require(try VectorFile.all(of: part).first { $0.expectedExit == exit })
        })
    func readsAPipeAsItReadsAFile(_ vector: VectorFile) throws {
        let tool = try Capbundle()
        try tool.folder.write(vector.content, to: "v")
        try tool.folder.write(vector.trustFile, to: "trust")
        let options = ["verify", "--json", "--trust", "trust"] + vector.arguments
        let file = try tool.run(options + ["v"])
        let pipe = try tool.run(options + ["-"], input: vector.content)
        #expect(file.exitCode == Int32(vector.expectedExit), "\(file.outputText)\(file.errorText)")
        #expect(pipe.exitCode == file.exitCode)
        #expect(file.outputText.replacing("\"file\":\"v\"", with: "\"file\":\"-\"") == pipe.outputText)
        let page = try tool.run(["verify", "--trust", "trust"] + vector.arguments + ["v"])
        #expect(page.exitCode == file.exitCode)
        let shown = try tool.run("show", "v")
        #expect(shown.exitCode == ([1, 2].contains(file.exitCode) ? file.exitCode : 0), "\(shown.outputText)")
    }

    /// The order of the files, the number of threads and the form of the output do not change the result.
    @Test(arguments: try VectorFile.oneOfEachKind("chain"))
    func judgesTheChainOfAllFiles(_ vector: VectorFile) throws {
        let tool = try Capbundle()
        try tool.folder.write(vector.trust.map { $0 + "\n" }.joined(), to: "trust")
        let contents = [vector.content] + vector.sides
        for (index, content) in contents.enumerated() { try tool.folder.write(content, to: "f/\(index).bundle") }
        let files = contents.indices.map { "f/\($0).bundle" }
        let runs = try [
            tool.run(["chain", "--json", "--jobs", "1", "--trust", "trust"] + files.reversed()),
            tool.run("chain", "--json", "--trust", "trust", "f"),
        ]
        for run in runs {
            #expect(run.exitCode == Int32(vector.expectedExit), "\(run.outputText)\(run.errorText)")
            guard run.exitCode != 78 else { continue }
            let codes = run.outputText.matches(of: /"code":"([a-z_.]+)"/).map { String($0.1) }
            #expect(Set(codes).sorted() == vector.expectedCodes)
        }
        let text = try tool.run("chain", "--trust", "trust", "f")
        #expect(text.exitCode == runs[0].exitCode)
        for code in vector.expectedCodes where code != "trust.file" { #expect(text.outputText.contains("[\(code)]")) }
    }
}
