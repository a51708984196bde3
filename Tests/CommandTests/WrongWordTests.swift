import CaptureTestSupport
import Foundation
import Testing

/// The suggestions for words that do not exist. Transcripts/*/wrong_words.txt show the messages.
struct WrongWordTests {
    private static func source(_ path: String) throws -> String {
        try String(contentsOf: Places.root.appending(path: "Sources/\(path)"), encoding: .utf8)
    }

    private static func risky() throws -> Set<String> {
        Set(try source("CommandSupport/Usage/RiskyOptions.swift").matches(of: /"(--[a-z-]+)"/).map { String($0.1) })
    }

    /// (tool, command, option) of every long option.
    private static func options() throws -> [(tool: String, path: [String], argument: HelpDump.Argument, name: String)]
    {
        try HelpDump.tools.flatMap { tool in
            try HelpDump.root(tool).below.flatMap { path, command in
                (command.arguments ?? []).flatMap { argument in argument.long.map { (tool, path, argument, $0) } }
            }
        }
    }

    @Test func riskyOptionsAreRealOnes() throws {
        let known = Set(try Self.options().map(\.name))
        #expect(try Self.risky().subtracting(known).isEmpty)
        #expect(try Self.risky().count > 20)
    }

    /// Fails if a new flag with such a help text is missing in the list of risky options.
    @Test func optionsThatDeleteOrReplaceAreRisky() throws {
        let risky = try Self.risky()
        for option in try Self.options() where option.argument.kind == "flag" {
            let help = option.argument.abstract ?? ""
            guard help.contains(/^(Replace|Remove|Delete|Accept|Trust|Let everything|Adopt|Keep only)/) else {
                continue
            }
            #expect(risky.contains(option.name), "\(option.path) \(option.name): \(help)")
        }
    }

    @Test func aSlipNeverLeadsToARiskyOption() throws {
        let risky = try Self.risky()
        var tried: Set<String> = []
        for option in try Self.options() where risky.contains(option.name) {
            guard tried.insert(option.name).inserted || isLongRun else { continue }
            let slip = String(option.name.dropLast())
            let result = try Capbundle().run(tool: option.tool, option.path + [slip])
            #expect(result.exitCode == 64)
            #expect(result.errorText.contains("unknown option \"\(slip)\"\n"), "\(result.errorText)")
            #expect(!risky.contains { result.errorText.contains("\($0)?") })
        }
        #expect(tried.count > 20)
    }

    /// Every other option is suggested when two of its letters are swapped.
    @Test func aSlipIsUnderstood() throws {
        let risky = try Self.risky()
        var tried: Set<String> = []
        for option in try Self.options() where !risky.contains(option.name) && option.name.count > 8 {
            // The short run tries each name once, however many commands have it.
            guard option.path != ["help"], tried.insert(option.name).inserted || isLongRun else { continue }
            let letters = Array(option.name)
            // Swaps two neighbours in the middle.
            let slip = String(letters[..<5] + [letters[6], letters[5]] + letters[7...])
            guard slip != option.name else { continue }
            let result = try Capbundle().run(tool: option.tool, option.path + [slip])
            #expect(result.errorText.contains("did you mean \(option.name)?"), "\(option.path): \(result.errorText)")
        }
    }

    /// A value that begins with `-`: the message says how to write it, and so written it is taken as the value.
    @Test(.long) func aValueThatLooksLikeAnOptionCanBeWritten() throws {
        var tried: Set<String> = []
        for option in try Self.options() where option.argument.kind == "option" && option.name != "--priority" {
            guard tried.insert(option.name).inserted || isLongRun else { continue }
            let apart = try Capbundle().run(tool: option.tool, option.path + [option.name, "-1 h"]).errorText
            #expect(apart.contains("if this is the value, write: \(option.name)='-1 h'\n"), "\(option.path): \(apart)")
            let joined = try Capbundle().run(tool: option.tool, option.path + ["\(option.name)=-1 h"]).errorText
            #expect(!joined.contains("missing for \(option.name)"), "\(option.path): \(joined)")
        }
        #expect(tried.count > 60)
    }

    /// Each word of another tool leads to a command that exists, and is not itself a command of ours.
    @Test(arguments: [("capbundle", "CapbundleCommand"), ("capqueue", "CapqueueCommand")])
    func wordsOfOtherToolsNameRealCommands(_ tool: String, _ file: String) throws {
        let source = try Self.source("\(tool)/\(file).swift")
        let table = try #require(source.split(separator: " commands: [").last)
        let pairs = table.prefix { $0 != "]" }.matches(of: /"([a-z -]+)": "([a-z -]+)"/)
        #expect(pairs.count > 20)
        let known = try Dictionary(
            uniqueKeysWithValues: HelpDump.tools.map { tool in (tool, try HelpDump.root(tool).below) })
        for pair in pairs {
            let (word, meant) = (String(pair.1), pair.2.split(separator: " ").map(String.init))
            let isOther = HelpDump.tools.contains(meant[0])
            let commands = known[isOther ? meant[0] : tool] ?? []
            #expect(commands.contains { $0.path == Array(meant.dropFirst(isOther ? 1 : 0)) }, "\(pair.0)")
            let taken = (known[tool] ?? []).flatMap { path, command in
                ([command.commandName] + (command.aliases ?? [])).map {
                    (path.dropLast() + [$0]).joined(separator: " ")
                }
            }
            #expect(!taken.contains(word), "\(word) is a command")
        }
    }
}
