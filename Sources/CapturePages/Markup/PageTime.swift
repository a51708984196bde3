public import CaptureBundle

/// A day in UTC.
package struct PageDay: Hashable, Comparable, Sendable {
    /// Days since 1970-01-01.
    private let number: Int

    private static let milliseconds = 86_400_000

    package init(_ time: CaptureTime) {
        let (quotient, rest) = time.milliseconds.quotientAndRemainder(dividingBy: Self.milliseconds)
        number = rest < 0 ? quotient - 1 : quotient
    }

    package static func < (one: PageDay, other: PageDay) -> Bool { one.number < other.number }

    /// The date, such as `2026-03-14`.
    package var date: String {
        guard let time = CaptureTime(milliseconds: number * Self.milliseconds) else { return "day \(number)" }
        return time.description.cut(to: 10)
    }

    /// The date for people, such as `Saturday, 14 March 2026`.
    package var words: String {
        guard let words = PageTime.words(date: date) else { return date }
        // 1970-01-01 was a Thursday.
        return "\(Self.weekdays[((number + 4) % 7 + 7) % 7]), \(words)"
    }

    private static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
}

/// Formats times for pages.
public enum PageTime {
    /// A time as a device wrote it, such as `14 March 2026, 15:09:26 +01:00`: a date, `T`, a time of day, and `Z` or an
    /// offset.
    public static func html(written text: String) -> HTML {
        guard let date = words(date: text) else { return "\(text)" }
        let zone = Array(text.utf8.dropFirst(19).drop { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) })
        let place = zone == [UInt8(ascii: "Z")] ? "UTC" : String(decoding: zone, as: UTF8.self)
        return "<time datetime=\"\(text)\">\(date), \(clock(text)) \(place)</time>"
    }

    /// A time in UTC, such as `14 March 2026, 14:09:26 UTC`.
    public static func html(_ time: CaptureTime) -> HTML { html(written: time.description) }

    /// The date and the time of day in a short form.
    package static func short(_ time: CaptureTime) -> HTML {
        let time = time.description
        return "<time datetime=\"\(time)\">\(time.cut(to: 10)) \(clock(time)) UTC</time>"
    }

    /// The time of day, below a heading with the date.
    package static func clock(_ time: CaptureTime) -> HTML {
        let time = time.description
        return "<time datetime=\"\(time)\">\(clock(time)) UTC</time>"
    }

    private static func clock(_ time: String) -> String { time.without(first: 11).cut(to: 8) }

    /// The date at the beginning of a time in words, such as `14 March 2026`.
    fileprivate static func words(date text: String) -> String? {
        let parts = text.cut(to: 10).pieces(by: "-").compactMap { Int($0) }
        guard parts.count == 3, months.indices.contains(parts[1] - 1) else { return nil }
        return "\(parts[2]) \(months[parts[1] - 1]) \(parts[0])"
    }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
}

/// Formats numbers for people.
package enum Rounded {
    /// A rounded size in powers of 1000: `999 bytes`, `1.5 kB`, `78.6 GB`.
    package static func size(_ bytes: Int) -> String {
        guard bytes.magnitude >= 1000 else { return "\(bytes) byte\(bytes == 1 ? "" : "s")" }
        var value = Double(bytes)
        var unit = ""
        for next in ["kB", "MB", "GB", "TB"] {
            value /= 1000
            unit = next
            // 999.95 would become 1000.0.
            if abs(value) < 999.95 { break }
        }
        return "\(decimal(value, places: 1)) \(unit)"
    }

    /// A number with commas between thousands.
    package static func grouped(_ count: Int) -> String {
        guard count.magnitude >= 1000 else { return String(count) }
        return "\(grouped(count / 1000)),\(Int(count.magnitude % 1000), 3)"
    }

    /// A distance in metres, without its unit.
    static func metres(_ distance: Float) -> String { decimal(Double(distance), places: 2) }

    /// A rounded decimal with the given number of places.
    package static func decimal(_ value: Double, places: Int) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
        var scale = 1
        for _ in 0..<places { scale *= 10 }
        let scaled = Int((abs(value) * Double(scale)).rounded())
        return "\(value < 0 ? "-" : "")\(scaled / scale).\(scaled % scale, places)"
    }
}
