package import ArgumentParser

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
