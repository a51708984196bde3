import CaptureBundle

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

/// Parses the three date forms of HTTP (RFC 9110 section 5.6.7), strictly.
package enum HTTPDate {
    /// The names of the weekdays from Monday, because 1900-01-01 was a Monday.
    private static let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    /// 1900-01-01 in Unix milliseconds, the earliest date of RFC 5322 section 3.3.
    private static let earliest = -2_208_988_800_000
    /// The average length of a calendar year in milliseconds.
    private static let year = 31_556_952_000

    /// - Parameter now: the current time in Unix milliseconds. It only decides the century of a year with two digits.
    /// - Returns: Unix milliseconds; nil if the text is not such a date or its weekday is wrong. The leap second
    ///   `23:59:60` counts as the second before it.
    package static func milliseconds(_ text: String, now: Int) -> Int? {
        // A text with an offset, an extra space or a byte outside ASCII matches none of the three forms.
        var words = text.pieces(by: " ", keepsEmpty: true)
        if words.count == 6, words[5] == "GMT" {
            // Sun, 06 Nov 1994 08:49:37 GMT
            let moment = moment(year: words[3], month: words[2], day: words[1], time: words[4])
            return moment.flatMap { words[0] == weekday(of: $0).cut(to: 3) + "," ? $0 : nil }
        }
        if words.count == 4, words[3] == "GMT" { return withShortYear(words, now) }
        // Sun Nov  6 08:49:37 1994, the format of C's asctime. A day of one digit has a space before it.
        if words.count == 6, words[2].isEmpty, words[3].utf8.count == 1 { words[2...3] = ["0\(words[3])"] }
        guard words.count == 5 else { return nil }
        let moment = moment(year: words[4], month: words[1], day: words[2], time: words[3])
        return moment.flatMap { words[0] == weekday(of: $0).cut(to: 3) ? $0 : nil }
    }

    /// Parses `Sunday, 06-Nov-94 08:49:37 GMT`. Its year is the latest with these digits that is at most 50 years
    /// ahead.
    private static func withShortYear(_ words: [String], _ now: Int) -> Int? {
        let date = words[1].pieces(by: "-", keepsEmpty: true)
        guard date.count == 3, date[2].utf8.count == 2 else { return nil }
        let latest = (1970 + now / year + 51) / 100
        for century in (19...min(max(latest, 19), 99)).reversed() {
            let digits = "\(century)\(date[2])"
            guard let moment = moment(year: digits, month: date[1], day: date[0], time: words[2]),
                moment - 50 * year <= now
            else { continue }
            return words[0] == weekday(of: moment) + "," ? moment : nil
        }
        return nil
    }

    /// Checks the lengths here; `CaptureTime` checks digits, ranges and the days of a month.
    private static func moment(year: String, month: String, day: String, time: String) -> Int? {
        guard let index = months.firstIndex(where: { $0 == month }), year.utf8.count == 4, day.utf8.count == 2,
            time.utf8.count == 8
        else { return nil }
        let number = index < 9 ? "0\(index + 1)" : "\(index + 1)"
        let clock = time == "23:59:60" ? "23:59:59" : time
        guard let moment = CaptureTime("\(year)-\(number)-\(day)T\(clock)Z")?.milliseconds, moment >= earliest else {
            return nil
        }
        return moment
    }

    private static func weekday(of moment: Int) -> String { weekdays[(moment - earliest) / 86_400_000 % 7] }
}
