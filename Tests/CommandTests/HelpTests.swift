import CaptureTestSupport
import Foundation
import Testing

/// Tests of the `--help` text of every command.
struct HelpTests {
    /// The words of every command, beginning with the name of the tool.
    static let paths: [[String]] = HelpDump.tools.flatMap { tool in
        let root = try? HelpDump.root(tool)
        return [[tool]] + (root?.below ?? []).map { [tool] + $0.path }.filter { $0.last != "help" }
    }

    @Test func knowsAllCommands() { #expect(Self.paths.count >= 17 + 28) }

    @Test(arguments: paths)
    func showsAnExampleAndFitsATerminal(_ path: [String]) throws {
        let help = try Capbundle().run(tool: path[0], path.dropFirst() + ["--help"])
        #expect(help.exitCode == 0)
        let lines = help.outputText.split(separator: "\n").map(String.init)
        #expect(lines.contains("Example:"))
        for line in lines where line.count > 80 { Issue.record("\(line.count) columns: \(line)") }
        // ArgumentParser continues a wrapped line without its indent, and such an example cannot be copied.
        let text = help.outputText.split(separator: "\n", omittingEmptySubsequences: false)
        for line in text.drop(while: { $0 != "Example:" }).dropFirst().prefix(while: { !$0.isEmpty }) {
            if !line.hasPrefix("  ") { Issue.record("an example is wrapped before: \(line)") }
        }
        let example = lines.drop { $0 != "Example:" }.dropFirst().prefix { $0.hasPrefix("  ") }
        #expect(!example.isEmpty && example.contains { $0.contains(path.joined(separator: " ")) })
    }

    /// A narrow terminal gets the same words on more lines.
    @Test(arguments: isLongRun ? paths : [["capbundle", "pack"], ["capqueue", "dest", "add"]])
    func saysTheSameAtSixtyColumns(_ path: [String]) throws {
        func words(_ columns: Int) throws -> [Substring] {
            let line = (["COLUMNS=\(columns)"] + path + ["--help"]).joined(separator: " ")
            return try Capbundle().shell(line).outputText.split { $0 == " " || $0 == "\n" }
        }
        #expect(try words(60) == words(80))
        #expect(try words(60).count > 20)
    }
}
