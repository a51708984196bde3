import ArgumentParser
import CaptureBundle
import CommandSupport

/// Reads a list of entries that can be withheld.
enum WithholdingWords {
    /// - Throws: An error of usage for a word that names no entry, and for `metadata.json`.
    ///
    /// - Parameter texts: The values of the option, which may be given several times.
    static func selection(_ texts: [String], of option: String) throws -> EntrySelection {
        var selection = EntrySelection()
        for word in texts.flatMap({ $0.pieces(by: ",", keepsEmpty: true) }) {
            guard selection.add(word) else {
                // metadata.json is an entry, but it can never be withheld.
                let roles = Role.allCases.filter { $0 != .metadata }.map(\.rawValue)
                let names = EntryPath.names.filter { $0 != EntryPath.metadata.description }
                let words = (roles + names).joined(separator: ", ")
                throw ValidationError(
                    "\(option): \"\(word)\" is not an entry of a bundle, expected \(words) or source/NAME")
            }
        }
        if selection.contains(.metadata) {
            throw ValidationError("\(option): metadata.json can never be withheld")
        }
        return selection
    }

    static let completion = ListCompletion.kind(
        ["location.json", "photo.jpg", "depth.f32.gz", "confidence.png", "source"])
}

struct WithholdableOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Entries that can be withheld later, such as photo.jpg, separated by commas.",
            discussion: "location.json can always be withheld, without this option. See capbundle redact.",
            valueName: "entries"),
        completion: WithholdingWords.completion)
    var withholdable: [String] = []

    func validate() throws { _ = try selection() }

    func selection() throws -> EntrySelection {
        try WithholdingWords.selection(withholdable, of: "--withholdable")
    }

    /// Warns once in a run, and not for each capture.
    func warn() throws {
        guard try selection().hasMoreThanThePosition else { return }
        diagnostic.warning(
            "a withheld entry keeps its hash in the bundle, and only the hash of location.json is salted: whoever "
                + "guesses all bytes of another entry can check the guess")
    }
}
