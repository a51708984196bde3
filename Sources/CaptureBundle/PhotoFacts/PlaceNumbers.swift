/// Recognises coordinates in text by their name, such as `lat=12.5` or `"lon": 45,25`.
enum PlaceNumbers {
    private static let names = Set(
        [
            "lat", "lon", "lng", "latlng", "latlon", "gps", "geo", "geolocation", "location", "coord", "coordinate",
            "coords", "coordinates",
        ].map { Array($0.utf8) })
    private static let nameLimit = 11
    /// What may stand between a name and its number.
    private static let separators = Set(" \t\r\n=:;,\"'([{>".utf8)
    private static let separatorLimit = 6
    private static let digitLimit = 3

    /// Whether one of the names, in lower or upper case, comes before a number with a decimal point, a comma or a degree
    /// sign. Text in UTF-16 is found too. Other letters must not touch the name.
    static func areNamed(in bytes: [UInt8]) -> Bool {
        for index in bytes.indices {
            switch bytes[index] | 0x20 {
            case UInt8(ascii: "c"), UInt8(ascii: "g"), UInt8(ascii: "l"):
                if Text(bytes: bytes, start: index).isNamedNumber { return true }
            default: continue
            }
        }
        return false
    }

    /// Text from an offset on.
    private struct Text {
        let bytes: [UInt8]
        let start: Int
        /// The distance of two letters: 2 in UTF-16.
        let step: Int

        init(bytes: [UInt8], start: Int) {
            (self.bytes, self.start) = (bytes, start)
            step = start + 1 < bytes.count && bytes[start + 1] == 0 ? 2 : 1
        }

        /// The byte of a letter, counted from the start; 0 outside the bytes.
        subscript(index: Int) -> UInt8 {
            let place = start + index * step
            return bytes.indices.contains(place) ? bytes[place] : 0
        }

        var isNamedNumber: Bool {
            guard !Self.isLetter(self[-1]) else { return false }
            var name: [UInt8] = []
            while name.count <= nameLimit, Self.isLetter(self[name.count]) { name.append(self[name.count] | 0x20) }
            guard names.contains(name) else { return false }
            let number = name.count + count(from: name.count, upTo: separatorLimit) { separators.contains($0) }
            guard number > name.count else { return false }
            let digits = number + ("+-".utf8.contains(self[number]) ? 1 : 0)
            let end = digits + count(from: digits, upTo: digitLimit, Self.isDigit)
            guard end > digits else { return false }
            switch self[end] {
            case UInt8(ascii: "."), UInt8(ascii: ","): return Self.isDigit(self[end + 1])
            // The degree sign in Latin-1 and UTF-16, and in UTF-8.
            case 0xb0: return true
            default: return self[end] == 0xc2 && self[end + 1] == 0xb0
            }
        }

        private func count(from: Int, upTo limit: Int, _ isPart: (UInt8) -> Bool) -> Int {
            (0..<limit).first { !isPart(self[from + $0]) } ?? limit
        }

        private static func isLetter(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }

        private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    }
}
