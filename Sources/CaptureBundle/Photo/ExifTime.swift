/// The times in EXIF: the camera's clock with or without its offset from UTC, and the GPS time.
package struct ExifTime: Hashable, Sendable {
    /// The local time, DateTimeOriginal with the digits of SubSecTimeOriginal, such as `2018-08-28T20:22:12.138`.
    package let local: String
    /// The offset from UTC, OffsetTimeOriginal, such as `+07:00`; nil if EXIF does not have it.
    package let offset: String?
    /// The GPS time in UTC, GPSDateStamp and GPSTimeStamp, such as `2018-08-28T11:22:07.610Z`.
    package let satellites: CaptureTime?

    package enum OffsetSource: Hashable, Sendable { case exif, satellites }

    /// - Parameters:
    ///   - local: DateTimeOriginal, such as `2018:08:28 20:22:12`.
    ///   - fraction: SubSecTimeOriginal, such as `138`.
    ///   - offset: OffsetTimeOriginal, such as `+09:00`.
    init?(local: String, fraction: String?, offset: String?, satellites: CaptureTime?) {
        let bytes = Array(local.utf8)
        guard bytes.count == 19, bytes[4] == UInt8(ascii: ":"), bytes[7] == UInt8(ascii: ":"),
            bytes[10] == UInt8(ascii: " ")
        else { return nil }
        let day = [bytes[..<4], bytes[5..<7], bytes[8..<10]].map { String(decoding: $0, as: UTF8.self) }
        let whole = "\(day[0])-\(day[1])-\(day[2])T\(String(decoding: bytes[11...], as: UTF8.self))"
        guard CaptureTime(whole + "Z") != nil else { return nil }
        let digits = fraction.map { ".\($0)" } ?? ""
        self.local = CaptureTime(whole + digits + "Z") == nil ? whole : whole + digits
        // A text such as ".5Z" would be decimals of the second with an offset.
        self.offset = offset.flatMap { text in
            let isZone = text.utf8.first.map("Z+-".utf8.contains) ?? false
            return isZone && CaptureTime(whole + text) != nil ? text : nil
        }
        self.satellites = satellites
    }

    /// The time of the capture as RFC 3339 text with an offset, for `CaptureTime`; nil if EXIF does not give the offset.
    ///
    /// If EXIF has no offset field, the offset is the local time minus the GPS time, rounded to 15 minutes. Rounding may
    /// change it by less than 5 minutes, since a position can be older than the picture. If it changes it by more, or
    /// the offset is outside -14 to +14 hours, one of the clocks is wrong, and the offset is unknown.
    package var capturedAt: (text: String, source: OffsetSource)? {
        if let offset { return (local + offset, .exif) }
        guard let satellites, let asUTC = CaptureTime(local + "Z") else { return nil }
        let difference = asUTC.milliseconds - satellites.milliseconds
        let quarter = 15 * 60_000
        let quarters = Int((Double(difference) / Double(quarter)).rounded())
        guard abs(difference - quarters * quarter) < 5 * 60_000, abs(quarters) <= 14 * 4 else { return nil }
        let (hours, minutes) = (abs(quarters) / 4, abs(quarters) % 4 * 15)
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let text = "\(local)\(quarters < 0 ? "-" : "+")\(two(hours)):\(two(minutes))"
        return CaptureTime(text) == nil ? nil : (text, .satellites)
    }

    /// The local time with an offset that the user gives, such as `Z` or `+01:00`; nil if the text is not an offset.
    package func capturedAt(offset: String) -> String? {
        CaptureTime(local + offset) == nil ? nil : local + offset
    }
}
