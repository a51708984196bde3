import CaptureBundle

/// A day in UTC.
package struct ReportDay: Hashable, Comparable, Sendable {
    /// Days since 1970-01-01.
    private let number: Int

    private static let milliseconds = 86_400_000

    package init(milliseconds: Int) {
        let (quotient, rest) = milliseconds.quotientAndRemainder(dividingBy: Self.milliseconds)
        number = rest < 0 ? quotient - 1 : quotient
    }

    package static func < (one: ReportDay, other: ReportDay) -> Bool { one.number < other.number }

    /// The date, such as `2026-03-14`.
    package var date: String {
        guard let time = CaptureTime(milliseconds: number * Self.milliseconds) else { return "day \(number)" }
        return time.description.cut(to: 10)
    }

    /// The date for people, such as `Saturday, 14 March 2026`.
    package var words: String {
        let parts = date.pieces(by: "-").compactMap { Int($0) }
        guard parts.count == 3, Self.months.indices.contains(parts[1] - 1) else { return date }
        // 1970-01-01 was a Thursday.
        let weekday = Self.weekdays[((number + 4) % 7 + 7) % 7]
        return "\(weekday), \(parts[2]) \(Self.months[parts[1] - 1]) \(parts[0])"
    }

    private static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
}

/// Formats times for pages.
package enum ReportTime {
    /// The date and the time of day.
    package static func html(_ milliseconds: Int) -> HTML {
        guard let time = CaptureTime(milliseconds: milliseconds)?.description else { return "\(milliseconds) ms" }
        return "<time datetime=\"\(time)\">\(time.cut(to: 10)) \(clock(time)) UTC</time>"
    }

    /// The time of day, below a heading with the date.
    package static func clock(_ milliseconds: Int) -> HTML {
        guard let time = CaptureTime(milliseconds: milliseconds)?.description else { return "\(milliseconds) ms" }
        return "<time datetime=\"\(time)\">\(clock(time)) UTC</time>"
    }

    private static func clock(_ time: String) -> String { time.without(first: 11).cut(to: 8) }
}
