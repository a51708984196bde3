import CaptureTestSupport
import Foundation
import Testing

/// What a tool says about its commands with `--experimental-dump-help`.
struct HelpDump: Decodable, Sendable {
    struct Command: Decodable, Sendable {
        let commandName: String
        let aliases: [String]?
        let subcommands: [Command]?
        let arguments: [Argument]?

        /// Each command below this one, with the words that name it.
        var below: [(path: [String], command: Command)] {
            (subcommands ?? []).flatMap { one in
                [([one.commandName], one)] + one.below.map { ([one.commandName] + $0.path, $0.command) }
            }
        }
    }

    struct Argument: Decodable, Sendable {
        struct Name: Decodable, Sendable {
            let kind: String
            let name: String
        }

        let kind: String
        let abstract: String?
        let names: [Name]?

        var words: [String] { (names ?? []).map { ($0.kind == "short" ? "-" : "--") + $0.name } }
        var long: [String] { (names ?? []).filter { $0.kind == "long" }.map { "--\($0.name)" } }
    }

    private let command: Command

    static let tools = ["capbundle", "capqueue"]

    /// Each tool is asked once.
    private static let roots = Dictionary(
        uniqueKeysWithValues: tools.map { tool in
            let root = Result {
                let dump = try Capbundle().run(tool: tool, ["--experimental-dump-help"])
                return try JSONDecoder().decode(HelpDump.self, from: Data(dump.standardOutput)).command
            }
            return (tool, root)
        })

    static func root(_ tool: String) throws -> Command { try #require(try roots[tool]?.get()) }
}
