import CaptureTestSupport
import Foundation
import Testing

/// What `--help` shows of every command.
struct HelpTests {
    private struct Dump: Decodable {
        let command: Command
    }

    private struct Command: Decodable {
        let commandName: String
        let subcommands: [Command]?

        /// The words that name this command and those below it.
        var paths: [[String]] {
            [[commandName]] + (subcommands ?? []).flatMap(\.paths).map { [commandName] + $0 }
        }
    }

    static let paths: [[String]] = {
        guard let dump = try? Capbundle().run("--experimental-dump-help"),
            let root = try? JSONDecoder().decode(Dump.self, from: Data(dump.standardOutput))
        else { return [] }
        return root.command.paths.filter { $0.last != "help" }.map { Array($0.dropFirst()) }
    }()

    @Test func knowsAllCommands() { #expect(Self.paths.count >= 17) }

    @Test(arguments: paths)
    func showsAnExampleAndFitsATerminal(_ path: [String]) throws {
        let help = try Capbundle().run(path + ["--help"])
        #expect(help.exitCode == 0)
        let lines = help.outputText.split(separator: "\n").map(String.init)
        #expect(lines.contains("Example:"))
        for line in lines where line.count > 80 { Issue.record("\(line.count) columns: \(line)") }
        let example = lines.drop { $0 != "Example:" }.dropFirst().prefix { $0.hasPrefix("  ") }
        #expect(!example.isEmpty && example.contains { $0.contains((["capbundle"] + path).joined(separator: " ")) })
    }
}
