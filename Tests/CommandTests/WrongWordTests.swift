import CaptureTestSupport
import Foundation
import Testing

/// Words that name no command or no option. Transcripts/*/wrong_words.txt show the messages.
struct WrongWordTests {
    /// Runs words that are wrong usage, and returns the lines of the message.
    private static func refused(_ path: [String], _ words: [String]) throws -> [String] {
        let result = try Capbundle().run(tool: path[0], path.dropFirst() + words)
        #expect(result.exitCode == 64, "\(path) \(words)")
        #expect(result.outputText.isEmpty, "\(path) \(words)")
        return result.errorText.split(separator: "\n").map(String.init)
    }

    /// An option that does not exist is named before what is missing.
    @Test(arguments: HelpTests.paths)
    func anUnknownOptionIsNamed(_ path: [String]) throws {
        let lines = try Self.refused(path, ["--nonsense=1"])
        #expect(lines.count == 2)
        #expect(lines.first == "\(path[0]): error: unknown option \"--nonsense\"")
        #expect(lines.last?.hasSuffix("see \(path.joined(separator: " ")) --help") == true)
    }

    /// A command that does not exist is named with those that do, also before options, and by `help`.
    @Test(arguments: HelpDump.tools)
    func anUnknownCommandIsNamed(_ tool: String) throws {
        let root = try HelpDump.root(tool)
        for (path, group) in [([], root)] + root.below where group.subcommands?.isEmpty == false {
            let names = (group.subcommands ?? []).map(\.commandName).filter { $0 != "help" }
            let words = (path + ["nonsense"]).joined(separator: " ")
            let expected = [
                "\(tool): error: no command \"\(words)\", expected one of \(names.joined(separator: ", "))",
                "\(tool): hint: see \(([tool] + path).joined(separator: " ")) --help",
            ]
            #expect(try Self.refused([tool] + path, ["nonsense", "-o", "x"]) == expected)
            #expect(try Self.refused([tool, "help"] + path, ["nonsense"]) == expected)
        }
    }

    /// A value that begins with `-`: the message says how to write it, and so written it is taken as the value.
    @Test(.long) func aValueThatLooksLikeAnOptionCanBeWritten() throws {
        var tried: Set<String> = []
        for tool in HelpDump.tools {
            for (path, command) in try HelpDump.root(tool).below {
                for argument in command.arguments ?? [] where argument.kind == "option" {
                    for name in argument.long where name != "--priority" {
                        guard tried.insert(name).inserted || isLongRun else { continue }
                        let apart = try Capbundle().run(tool: tool, path + [name, "-1 h"]).errorText
                        #expect(apart.contains("missing value for '\(name)"), "\(path): \(apart)")
                        #expect(apart.contains("one that begins with - is written after =\n"), "\(path): \(apart)")
                        let joined = try Capbundle().run(tool: tool, path + ["\(name)=-1 h"]).errorText
                        #expect(!joined.contains("missing value for '"), "\(path): \(joined)")
                    }
                }
            }
        }
        #expect(tried.count > 60)
    }

    /// Each word of another tool leads to a command that exists, and is not itself a command of ours.
    @Test(arguments: HelpDump.tools)
    func wordsOfOtherToolsNameRealCommands(_ tool: String) throws {
        let file = Places.root.appending(path: "Sources/CommandSupport/OtherWords.swift")
        let source = try String(contentsOf: file, encoding: .utf8)
        let table = try #require(source.split(separator: "let \(tool) = [").last?.split(separator: "\n    ]").first)
        let rows = table.matches(of: /"([a-z -]+)": \[(.+)\]/)
        #expect(rows.count > 10)
        for row in rows {
            let meant = row.1.hasPrefix("cap") ? "\(row.1)" : "\(tool) \(row.1)"
            #expect(HelpTests.paths.contains(meant.split(separator: " ").map(String.init)), "\(meant)")
            // The short run tries the first word of each row.
            for word in row.2.matches(of: /"([a-z -]+)"/).prefix(isLongRun ? .max : 1) {
                let words = word.1.split(separator: " ").map(String.init)
                let message = try Self.refused([tool], words).joined(separator: "\n")
                #expect(message.contains("no command \"\(word.1)\"; did you mean \(meant)?"), "\(message)")
                #expect(message.hasSuffix("hint: see \(meant) --help"), "\(message)")
            }
        }
    }
}
