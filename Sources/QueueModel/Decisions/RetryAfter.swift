/// How long a server asks to be left alone (Spec/upload.md section 4.2, RFC 9110 section 10.2.3). Pure: the time is
/// handed in.
package enum RetryAfter {
    /// 24 hours in milliseconds; what is asked beyond is cut to it.
    package static let longest = 86_400_000

    /// - Parameter value: of the header, without space around it: seconds, or a date.
    /// - Parameter date: the `Date` of the same answer. A date in `value` is counted from it, so that a clock of ours
    ///   that is wrong makes no wait longer or shorter; where it is missing or is no date, from `now`.
    /// - Parameter now: Unix milliseconds.
    /// - Returns: milliseconds to wait, 1 to 86400000; nil when the header is as good as none: zero, past, negative,
    ///   garbage.
    package static func milliseconds(_ value: String, answeredAt date: String?, now: Int) -> Int? {
        if let wait = ofSeconds(value) { return wait > 0 ? wait : nil }
        let start = date.flatMap { HTTPDate.milliseconds($0, now: now) } ?? now
        guard let end = HTTPDate.milliseconds(value, now: start), end > start else { return nil }
        return min(end - start, longest)
    }

    /// Any number of digits, as the grammar has it; nil for anything else.
    private static func ofSeconds(_ value: String) -> Int? {
        guard !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        // A number that is too long for an Int is more than a day in any case.
        guard let seconds = Int(value) else { return longest }
        return min(seconds, longest / 1000) * 1000
    }
}
