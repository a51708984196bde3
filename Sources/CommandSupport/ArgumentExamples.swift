/// Examples of values, for the message about a value that cannot be read.
enum ArgumentExamples {
    private static let byPlaceholder = [
        "<age>'": "7d, 12h or 90s", "<size>'": "500MB", "<bytes>'": "2MB", "<WxH>'": "256x192",
        "<time>'": "+2h or 2026-03-14T15:09:26Z", "<date-time>'": "2026-03-14T15:09:26+01:00, with its zone",
        "<metres>'": "0.001", "<limit>'": "20ms, at most 1s", "<numbers>'": "0,10-30", "<zone>'": "+01:00",
        "<pattern>'": "'rgb/*.jpg' (relative to RAW, at most one *)",
    ]

    /// The end of a message that ends with the name of the value; empty for other messages.
    static func words(for message: String) -> String {
        if message.hasPrefix("missing value for '") { return "; one that begins with - is written after =" }
        guard message.contains(" is invalid for '") else { return "" }
        return byPlaceholder.first { message.hasSuffix($0.key) }.map { ", expected for example \($0.value)" } ?? ""
    }
}
