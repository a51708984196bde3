/// Examples of values, for the message about a value that cannot be read.
enum ArgumentExamples {
    private static let byPlaceholder = [
        "<age>'": "7d, 12h or 90s", "<size>'": "500MB", "<bytes>'": "2MB", "<WxH>'": "256x192",
        "<time>'": "+2h or 2026-03-14T15:09:26Z", "<date-time>'": "2026-03-14T15:09:26+01:00, with its zone",
        "<metres>'": "0.001", "<limit>'": "20ms, at most 1s", "<numbers>'": "0,10-30", "<zone>'": "+01:00",
        // For `capqueue config`.
        "<value>'": "7d, 500MB, none or on",
        "<pattern>'": "'rgb/*.jpg' (relative to RAW, at most one *)",
    ]

    /// The message about a value below zero, which the parser takes for an option; nil if it is not such a value.
    static func wrongValue(_ word: String, for name: String) -> String? {
        // No option begins with a digit.
        guard let digit = word.utf8.dropFirst().first, (0x30...0x39).contains(digit) else { return nil }
        let message = "the value '\(word)' is invalid for '<\(name)>'"
        let example = words(for: message)
        return example.isEmpty ? nil : message + example
    }

    /// The end of a message that ends with the name of the value; empty for other messages.
    static func words(for message: String) -> String {
        let isMissing = message.hasPrefix("missing value for '")
        guard isMissing || message.contains(" is invalid for '") else { return "" }
        let example = byPlaceholder.first { message.hasSuffix($0.key) }.map { ", expected for example \($0.value)" }
        return (example ?? "") + (isMissing ? "; one that begins with - is written after =" : "")
    }
}
