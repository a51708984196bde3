// A conformance is as public as its type, and its imports must be public too.
public import ArgumentParser
public import CaptureBundle

extension LocationPolicy: ExpressibleByArgument {}

extension TrustLevel: ExpressibleByArgument {}

extension CaptureTime: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

/// Completes a value that consists of words separated by commas.
package enum ListCompletion {
    package static func kind(_ words: [String]) -> CompletionKind {
        .custom { _, _, typed in
            let parts = typed.pieces(by: ",", keepsEmpty: true)
            let before = parts.dropLast()
            return words.filter { !before.contains($0) }.map { (before + [$0]).joined(separator: ",") }
        }
    }
}

extension Option {
    /// An option that may be left out, with the name that its value has in the help.
    package init<T: ExpressibleByArgument>(
        name: NameSpecification = .long, _ help: String, discussion: String? = nil, value: String,
        completion: CompletionKind? = nil
    ) where Value == T? {
        let help = ArgumentHelp(help, discussion: discussion, valueName: value)
        self.init(name: name, help: help, completion: completion)
    }
}
