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
        let lastThree = String(decoding: String(1000 + count.magnitude % 1000).utf8.dropFirst(), as: UTF8.self)
        return "\(grouped(count / 1000)),\(lastThree)"
    }

    /// A distance in metres, without its unit.
    static func metres(_ distance: Float) -> String { decimal(Double(distance), places: 2) }

    /// A rounded decimal with the given number of places.
    package static func decimal(_ value: Double, places: Int) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
        var scale = 1
        for _ in 0..<places { scale *= 10 }
        let scaled = Int((abs(value) * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        let padded = String(repeating: "0", count: places - fraction.utf8.count) + fraction
        return "\(value < 0 ? "-" : "")\(scaled / scale).\(padded)"
    }
}
