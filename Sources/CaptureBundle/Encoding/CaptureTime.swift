/// A moment. Its text is RFC 3339 with a zone, as in `captured_at` (Spec/capture-bundle.md sections 4.2 and 6).
public struct CaptureTime: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The milliseconds since 1970-01-01T00:00:00Z, rounded down.
    public let milliseconds: Int

    private static let range = (
        earliest: days(year: 1, month: 1, day: 1) * 86_400_000,
        end: days(year: 10000, month: 1, day: 1) * 86_400_000
    )

    /// Parses a time; nil unless `text` matches the grammar of section 6 and is in the years 1 to 9999 in UTC too.
    public init?(_ text: String) { self.init(text, rounding: .down) }

    /// Creates a time; nil outside the years 1 to 9999.
    public init?(milliseconds: Int) { self.init(checked: milliseconds) }

    /// Creates the time in the years 1 to 9999 that is nearest to `milliseconds`.
    public init(clamping milliseconds: Int) {
        self.milliseconds = min(max(milliseconds, Self.range.earliest), Self.range.end - 1)
    }

    enum Rounding { case down, up }

    init?(_ text: String, rounding: Rounding) {
        var scanner = TimeScanner(text)
        guard let day = Self.date(&scanner), scanner.consume("T") != nil,
            let hour = scanner.number(2), hour <= 23, scanner.consume(":") != nil,
            let minute = scanner.number(2), minute <= 59, scanner.consume(":") != nil,
            let second = scanner.number(2), second <= 59
        else { return nil }
        var fraction = 0
        if scanner.consume(".") != nil {
            guard let billionths = scanner.billionths() else { return nil }
            fraction = (billionths + (rounding == .up ? 999_999 : 0)) / 1_000_000
        }
        guard let offset = Self.zone(&scanner), scanner.isAtEnd else { return nil }
        let milliseconds = ((day * 24 + hour) * 60 + minute - offset) * 60_000 + second * 1000 + fraction
        self.init(checked: milliseconds, rounding)
    }

    /// The first moment, in UTC, of a date `YYYY-MM-DD`; nil if the text is not a date.
    init?(date text: String) {
        var scanner = TimeScanner(text)
        guard let day = Self.date(&scanner), scanner.isAtEnd else { return nil }
        self.init(checked: day * 86_400_000)
    }

    private init?(checked milliseconds: Int, _ rounding: Rounding = .down) {
        // A time in the last millisecond of the year 9999 is rounded up to the first moment after that year.
        let latest = Self.range.end - (rounding == .up ? 0 : 1)
        guard (Self.range.earliest...latest).contains(milliseconds) else { return nil }
        self.milliseconds = milliseconds
    }

    public static func < (one: CaptureTime, other: CaptureTime) -> Bool { one.milliseconds < other.milliseconds }

    /// The time as `YYYY-MM-DDThh:mm:ss.sssZ`, which is its form in the manifest.
    public var description: String {
        if milliseconds == Self.range.end { return "9999-12-31T23:59:59.9999Z" }
        let day = milliseconds.flooringDivision(by: 86_400_000)
        let rest = milliseconds - day * 86_400_000
        let (year, month, dayOfMonth) = Self.civil(day)
        return "\(year, 4)-\(month, 2)-\(dayOfMonth, 2)T"
            + "\(rest / 3_600_000, 2):\(rest / 60_000 % 60, 2):\(rest / 1000 % 60, 2).\(rest % 1000, 3)Z"
    }

    private static func date(_ scanner: inout TimeScanner) -> Int? {
        guard let year = scanner.number(4), year >= 1, scanner.consume("-") != nil,
            let month = scanner.number(2), (1...12).contains(month), scanner.consume("-") != nil,
            let day = scanner.number(2)
        else { return nil }
        // Month 13 is January of the next year.
        let first = days(year: year, month: month, day: 1)
        let length = days(year: year, month: month + 1, day: 1) - first
        return (1...length).contains(day) ? first + day - 1 : nil
    }

    /// The zone in minutes east of UTC. In RFC 3339 `-00:00` means "offset unknown", which a capture may not use.
    private static func zone(_ scanner: inout TimeScanner) -> Int? {
        if scanner.consume("Z") != nil { return 0 }
        guard let sign = scanner.consume("+-"), let hours = scanner.number(2), hours <= 23, scanner.consume(":") != nil,
            let minutes = scanner.number(2), minutes <= 59
        else { return nil }
        if sign == "-" && hours == 0 && minutes == 0 { return nil }
        return (sign == "-" ? -1 : 1) * (hours * 60 + minutes)
    }

    /// The days since 1970-01-01 of a proleptic Gregorian date. Years are counted from March, so that the leap day is
    /// last.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let era = shifted.flooringDivision(by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The date for a number of days; the inverse of `days(year:month:day:)`.
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted.flooringDivision(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

extension Int {
    fileprivate func flooringDivision(by divisor: Int) -> Int {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
