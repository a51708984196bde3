/// Reads how long a server asks us to wait (Spec/upload.md section 4.2, RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// 24 hours in milliseconds. A longer wait is cut to this.
    package static let longest = 86_400_000

    /// - Parameter value: the value of the header, without space around it: seconds, or a date.
    /// - Parameter date: the `Date` of the same answer. A date in `value` is counted from it, so that a wrong clock of
    ///   ours does not change the wait. If `date` is missing or invalid, the wait is counted from `now`.
    /// - Parameter now: the current time in Unix milliseconds.
    /// - Returns: milliseconds to wait, 1 to 86400000; nil if the value is zero, past, negative or invalid.
    package static func milliseconds(_ value: String, answeredAt date: String?, now: Int) -> Int? {
        if let wait = ofSeconds(value) { return wait > 0 ? wait : nil }
        let start = date.flatMap { HTTPDate.milliseconds($0, now: now) } ?? now
        guard let end = HTTPDate.milliseconds(inGMT(value), now: start), end > start else { return nil }
        return min(end - start, longest)
    }

    /// The date with `GMT` in place of the zones of mail (RFC 5322), which some frameworks write.
    private static func inGMT(_ value: String) -> String {
        let words = value.pieces(by: " ", keepsEmpty: true)
        guard words.count == 6, ["UTC", "+0000", "-0000"].contains(words[5]) else { return value }
        return (words.dropLast() + ["GMT"]).joined(separator: " ")
    }

    /// Parses any number of digits, as the grammar allows; returns nil for anything else.
    private static func ofSeconds(_ value: String) -> Int? {
        guard !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        // A number that does not fit into an Int is more than a day.
        guard let seconds = Int(value) else { return longest }
        return min(seconds, longest / 1000) * 1000
    }
}
