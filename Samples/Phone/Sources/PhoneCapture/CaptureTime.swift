import Foundation

/// The time of a capture (Spec/capture-bundle.md sections 4.2 and 6).
public struct CaptureTime: Sendable {
    /// The time as the device writes it: `captured_at` of metadata.json.
    public let text: String
    /// The time in UTC, without what follows its milliseconds: `captured_at` of the manifest.
    public let utc: String

    /// The time and its zone, to the millisecond.
    public init(_ date: Date, zone: TimeZone = .current) throws {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions.insert(.withFractionalSeconds)
        formatter.timeZone = zone
        try self.init(formatter.string(from: date))
    }

    /// - Parameter text: A time of RFC 3339 with at most 9 decimals, such as `2026-03-14T15:09:26.535+01:00`.
    public init(_ text: String) throws {
        let zone = #/Z|(?<sign>[+-])(?<hours>[01][0-9]|2[0-3]):(?<minutes>[0-5][0-9])/#
        let form = #/(?<time>[0-9-]{10}T[0-9:]{8})(\.(?<decimals>[0-9]{1,9}))?(?<zone>Z|[+-][0-9:]{5})/#
        let formatter = ISO8601DateFormatter()
        // A date such as 30 February is read as another date.
        guard let parts = text.wholeMatch(of: form), parts.zone != "-00:00", let zone = parts.zone.wholeMatch(of: zone),
            let local = formatter.date(from: "\(parts.time)Z"), formatter.string(from: local) == "\(parts.time)Z"
        else { throw CaptureError("the time is \(text), expected one like 2026-03-14T15:09:26.535+01:00") }
        let seconds = (Double(zone.hours ?? "0") ?? 0) * 3600 + (Double(zone.minutes ?? "0") ?? 0) * 60
        let utc = formatter.string(from: local.addingTimeInterval(zone.sign == "-" ? seconds : -seconds))
        guard utc.utf8.count == 20 else { throw CaptureError("the time \(text) is after the year 9999 in UTC") }
        (self.text, self.utc) = (text, "\(utc.dropLast()).\("\(parts.decimals ?? "")000".prefix(3))Z")
    }
}
