import CaptureBundle
import CaptureNative

/// The form of the times in file names, as the user gives it (Spec/raw-captures.md section 5.1).
public enum NameTimeForm: String, Sendable, CaseIterable {
    case seconds = "s"
    case milliseconds = "ms"
    case microseconds = "us"
    case nanoseconds = "ns"
    case iso

    /// The name of the unit, and its nanoseconds; nil for a date.
    private var unit: (name: String, nanoseconds: Int)? {
        switch self {
        case .seconds: ("seconds", 1_000_000_000)
        case .milliseconds: ("milliseconds", 1_000_000)
        case .microseconds: ("microseconds", 1000)
        case .nanoseconds: ("nanoseconds", 1)
        case .iso: nil
        }
    }

    /// For messages.
    package var words: String { unit.map { "a time in \($0.name) since 1970" } ?? "a date with a time" }

    /// Reads a whole name; nil for a name of another form and for a time outside the years 2000 to 2099. No name has
    /// times of these years in two units, so a wrong unit is found.
    ///
    /// - Parameter zone: The zone of dates without one.
    func read(_ name: String, zone: ZoneOffset?) -> NameTime? {
        let time = unit.map { NameTime(count: name, unit: $0.nanoseconds) } ?? NameTime(date: name, zone: zone)
        return time.flatMap { NameTime.years.contains($0.nanoseconds) ? $0 : nil }
    }

    /// The form in which every name is a time; nil if there is none.
    ///
    /// - Returns: The form, and whether its dates have no zone.
    package static func fitting(_ names: [String]) -> (form: NameTimeForm, needsZone: Bool)? {
        guard !names.isEmpty else { return nil }
        if let form = allCases.first(where: { form in names.allSatisfy { form.read($0, zone: nil) != nil } }) {
            return (form, false)
        }
        // This zone is for the trial only: it never becomes part of a time that is signed.
        let zone = ZoneOffset("Z")
        let isLocal = names.allSatisfy { NameTimeForm.iso.read($0, zone: zone) != nil }
        return isLocal ? (.iso, true) : nil
    }
}

struct NameTime: Hashable {
    /// Nanoseconds since 1970.
    let nanoseconds: Int
    /// The time for `captured_at`, with all its digits.
    let text: String

    private static let second = 1_000_000_000
    /// 2000-01-01 to 2100-01-01, in nanoseconds since 1970.
    fileprivate static let years = (946_684_800 * second)..<(4_102_444_800 * second)

    /// Reads a number of units, such as `1305031102.175304`: digits, which a point and 1 to 9 digits may follow.
    fileprivate init?(count name: String, unit: Int) {
        var scanner = TimeScanner(name)
        guard let whole = Int(scanner.digits(1...19)) else { return nil }
        var fraction = 0
        if scanner.consume(".") != nil {
            guard let billionths = scanner.billionths() else { return nil }
            fraction = billionths
        }
        let (product, isTooLarge) = whole.multipliedReportingOverflow(by: unit)
        // Digits below a nanosecond are dropped.
        let (sum, isBeyond) = product.addingReportingOverflow(fraction / (Self.second / unit))
        guard scanner.isAtEnd, !isTooLarge, !isBeyond, let time = CaptureTime(milliseconds: sum / Self.second * 1000)
        else { return nil }
        nanoseconds = sum
        var decimals = Array("\(sum % Self.second, 9)".utf8)
        while decimals.count > 3, decimals.last == UInt8(ascii: "0") { decimals.removeLast() }
        let start = time.description.rest(before: "000Z") ?? ""
        text = start + String(decoding: decimals, as: UTF8.self) + "Z"
    }

    /// Reads a date with a time, such as `2026-03-14T15-09-26.535Z` or `20260314_150926`: `YYYY-MM-DD` or `YYYYMMDD`;
    /// `T`, `_`, `-` or a space; `hhmmss`, or the same with `:`, `-`, `.` or `_` between; a point or comma with 1 to 9
    /// digits, if wanted; `Z` or `±hh:mm` or `±hhmm`, or nothing if `zone` is given.
    fileprivate init?(date name: String, zone: ZoneOffset?) {
        var scanner = TimeScanner(name)
        let year = scanner.digits(4...4)
        let dash = scanner.consume("-")
        let month = scanner.digits(2...2)
        guard dash == nil || scanner.consume("-") != nil else { return nil }
        let day = scanner.digits(2...2)
        guard scanner.consume("T_- ") != nil else { return nil }
        let hour = scanner.digits(2...2)
        let mark = scanner.consume(":-._")
        let minute = scanner.digits(2...2)
        guard mark == nil || scanner.consume(":-._") == mark else { return nil }
        var text = "\(year)-\(month)-\(day)T\(hour):\(minute):\(scanner.digits(2...2))"
        if scanner.consume(".,") != nil { text += ".\(scanner.digits(1...9))" }
        if let sign = scanner.consume("+-") {
            text += sign + scanner.digits(2...2)
            _ = scanner.consume(":")
            text += ":\(scanner.digits(2...2))"
        } else {
            guard let offset = scanner.consume("Z") ?? zone?.description else { return nil }
            text += offset
        }
        // `CaptureTime` refuses numbers that are missing or no date.
        guard scanner.isAtEnd, let time = CaptureTime(text) else { return nil }
        self.text = text
        let (product, isTooLarge) = time.milliseconds.multipliedReportingOverflow(by: 1_000_000)
        guard !isTooLarge else { return nil }
        nanoseconds = product
    }
}
