import CaptureBundle

/// Formats times for people.
enum PageTime {
    /// A time as a device wrote it, such as `14 March 2026, 15:09:26 +01:00`.
    static func html(written text: String) -> HTML {
        "<time datetime=\"\(text)\">\(words(text))</time>"
    }

    /// A moment in UTC.
    static func html(milliseconds: Int) -> HTML {
        guard let time = CaptureTime(milliseconds: milliseconds) else { return "\(milliseconds) ms" }
        return html(written: time.description)
    }

    /// The words for a time in the grammar of `captured_at`: a date, `T`, a time of day, and `Z` or an offset.
    private static func words(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, let month = Int(string(bytes[5..<7])), months.indices.contains(month - 1),
            let day = Int(string(bytes[8..<10]))
        else { return text }
        let zone = bytes[19...].drop { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
        let zoneWords = zone.first == UInt8(ascii: "Z") ? "UTC" : string(zone)
        return "\(day) \(months[month - 1]) \(string(bytes[..<4])), \(string(bytes[11..<19])) \(zoneWords)"
    }

    private static func string(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
}
