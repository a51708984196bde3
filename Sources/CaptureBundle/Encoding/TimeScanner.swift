/// Reads the ASCII characters of a time one after the other.
package struct TimeScanner {
    private var rest: ArraySlice<UInt8>

    package init(_ text: String) { rest = Array(text.utf8)[...] }

    package var isAtEnd: Bool { rest.isEmpty }

    /// Takes one of these characters; nil if the next one is another.
    package mutating func consume(_ characters: String) -> String? {
        guard let byte = rest.first, characters.utf8.contains(byte) else { return nil }
        rest.removeFirst()
        return String(decoding: [byte], as: UTF8.self)
    }

    /// Takes digits, as many as there are in these limits; empty if there are too few.
    package mutating func digits(_ count: ClosedRange<Int>) -> String {
        let found = rest.prefix(count.upperBound).prefix { (48...57).contains($0) }
        guard found.count >= count.lowerBound else { return "" }
        rest = rest.dropFirst(found.count)
        return String(decoding: found, as: UTF8.self)
    }

    /// Takes a number of exactly this many digits.
    mutating func number(_ count: Int) -> Int? { Int(digits(count...count)) }

    /// Takes 1 to 9 decimals, and returns them in billionths.
    package mutating func billionths() -> Int? {
        let digits = digits(1...9)
        return digits.isEmpty ? nil : Int(digits + String(repeating: "0", count: 9 - digits.utf8.count))
    }
}

extension DefaultStringInterpolation {
    /// Writes a number with leading zeros.
    package mutating func appendInterpolation(_ value: Int, _ width: Int, radix: Int = 10) {
        let digits = String(value, radix: radix)
        appendInterpolation(String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits)
    }
}
