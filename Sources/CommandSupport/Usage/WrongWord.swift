import CaptureBundle

/// A message about a word that names no command or no option.
struct WrongWord {
    let message: String
    let hint: String
}

/// Follows the words of a command line through the tree of commands.
struct WordSearch {
    let root: CommandTree
    let habits: OtherWords

    /// The message about the first wrong word of the command line; nil if all words exist.
    func wrongWord(_ arguments: [String]) -> WrongWord? {
        let isHelp = arguments.first == "help"
        var rest = arguments.dropFirst(isHelp ? 1 : 0)
        var command = root
        var path: [String] = []
        while !command.subcommands.isEmpty {
            guard let word = rest.popFirst() else { return nil }
            if word.hasPrefix("-") && word != "-" {
                // ArgumentParser's own option, which its description of the tool leaves out.
                let isOwn = word == "--generate-completion-script"
                if isHelp || isOwn || command.option(word) != nil { return nil }
                return unknownOption(word, of: command, path, before: rest)
            }
            guard let next = command.subcommand(word) else {
                return unknownCommand(word, in: command, path, before: rest)
            }
            path.append(next.name)
            command = next
        }
        return isHelp ? nil : wrongOption(rest, of: command, path)
    }

    private func wrongOption(_ words: ArraySlice<String>, of command: CommandTree, _ path: [String]) -> WrongWord? {
        var rest = words
        while let word = rest.popFirst() {
            if word == "--" { return nil }
            guard word.hasPrefix("-"), word != "-" else { continue }
            guard let option = command.option(word) else { return unknownOption(word, of: command, path, before: rest) }
            guard option.takesValue, !word.utf8.contains(UInt8(ascii: "=")) else { continue }
            guard let value = rest.popFirst() else { return nil }
            if let wrong = valueLikeAnOption(value, for: option, of: command) { return wrong }
        }
        return nil
    }

    /// The parser reads a word that begins with `-` as an option, and then says only that a value is missing.
    private func valueLikeAnOption(
        _ value: String, for option: CommandTree.Option, of command: CommandTree
    ) -> WrongWord? {
        guard !option.takesAnyWord, value.hasPrefix("-"), value != "-", value != "--", command.option(value) == nil,
            let name = option.names.first(where: { $0.hasPrefix("--") }) ?? option.names.first
        else { return nil }
        return WrongWord(
            message: "a value is missing for \(name), because \(ShellWord.quote(value)) begins with -",
            hint: "if this is the value, write: \(name)=\(ShellWord.quote(value))")
    }

    // MARK: - Commands

    private func unknownCommand(
        _ word: String, in command: CommandTree, _ path: [String], before rest: ArraySlice<String>
    ) -> WrongWord {
        let place = path.joined(separator: " ")
        let typed = (path + [word]).joined(separator: " ")
        if word == "help" && !path.isEmpty || typed == "version" {
            let meant = word == "help" ? "\(root.name) help \(place)" : "\(root.name) --version"
            return WrongWord(message: "no command \"\(typed)\"; did you mean \(meant)?", hint: help(place))
        }
        if let hint = habits.hints[typed] { return WrongWord(message: "no command \"\(typed)\"", hint: hint) }
        let meant =
            rest.first.flatMap { habits.commands["\(typed) \($0)"] } ?? habits.commands[typed] ?? elsewhere(word)
            ?? Nearness.nearest(to: word, among: command.subcommands.filter(\.isShown).map(\.name))
            .map { (path + [$0]).joined(separator: " ") }
        return WrongWord(
            message: "no command \"\(typed)\"" + (meant.map { "; did you mean \($0)?" } ?? ""),
            hint: help(meant ?? place))
    }

    /// The command with this name at another level, if there is exactly one.
    private func elsewhere(_ word: String) -> String? {
        let found = root.paths { $0.name == word && $0.name != "help" }
        return found.count == 1 ? found.first?.joined(separator: " ") : nil
    }

    /// - Parameter command: The words of a command, with the name of the tool first if it is the other tool.
    private func help(_ command: String) -> String {
        let tools = ["capbundle ", "capqueue "]
        if tools.contains(where: command.hasPrefix) { return "see \(command) --help" }
        return "see \(root.name)\(command.isEmpty ? "" : " ")\(command) --help"
    }

    // MARK: - Options

    private func unknownOption(
        _ word: String, of command: CommandTree, _ path: [String], before rest: ArraySlice<String>
    ) -> WrongWord {
        let name = word.pieces(by: "=", limit: 2, keepsEmpty: true).first ?? word
        let message = "unknown option \"\(name)\""
        if let meant = meant(name, command) {
            return WrongWord(message: "\(message); did you mean \(meant)?", hint: help(path.joined(separator: " ")))
        }
        return WrongWord(
            message: message, hint: home(of: name, command, path, rest) ?? help(path.joined(separator: " ")))
    }

    /// The option of the command that was probably meant; nil if that is a risky one (`RiskyOptions`).
    private func meant(_ name: String, _ command: CommandTree) -> String? {
        let known = command.options.filter(\.isShown).flatMap(\.names).filter { $0.hasPrefix("--") }
        if let usual = habits.options[name], let option = usual.first(where: { known.contains($0) }) { return option }
        let letters = name.without(first: name.hasPrefix("--") ? 2 : 1)
        guard letters.utf8.count > 1 else { return nil }
        let nearest = Nearness.nearest(to: letters, among: known.map { $0.without(first: 2) }).map { "--\($0)" }
        return nearest.flatMap { RiskyOptions.names.contains($0) ? nil : $0 }
    }

    /// Says where an option belongs: after the command, or to the one or two commands that have it.
    private func home(
        of name: String, _ command: CommandTree, _ path: [String], _ rest: ArraySlice<String>
    ) -> String? {
        guard name.hasPrefix("--"), !RiskyOptions.names.contains(name) else { return nil }
        if !command.subcommands.isEmpty {
            let below = command.paths { $0.subcommands.isEmpty && $0.option(name) != nil }
            guard let option = command.subcommands.lazy.compactMap({ $0.option(name) }).first, !below.isEmpty else {
                return nil
            }
            let typed = rest.first { word in below.contains { $0.first.map { $0 == word } ?? false } }
            let place = ([root.name] + path + [typed ?? "COMMAND"]).joined(separator: " ")
            return "options go after the command: \(place) \(name)\(option.takesValue ? " ..." : "")"
        }
        let owners = root.paths { $0.subcommands.isEmpty && $0.option(name)?.isShown ?? false }
        guard (1...2).contains(owners.count) else { return nil }
        let names = owners.map { "\(root.name) \($0.joined(separator: " "))" }.joined(separator: " and ")
        return "\(name) is an option of \(names)"
    }
}
