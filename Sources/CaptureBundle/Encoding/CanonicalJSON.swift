/// The canonical form of JSON in a bundle: the order and escapes of RFC 8785, with numbers as they are written.
package enum CanonicalJSON {
    package static func encode(_ value: JSONValue, capacity: Int = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(capacity)
        append(value, to: &bytes)
        return bytes
    }

    /// Parses a JSON file of a bundle, which must be in canonical form.
    static func decode(
        _ bytes: [UInt8], nesting: Int = BundleLimits.metadataNesting, or code: BundleError.Code,
        _ fault: String = "not in canonical form"
    ) throws(BundleError) -> JSONValue {
        let root: JSONValue
        do { root = try JSONParser.parse(bytes, nesting: nesting) } catch {
            throw BundleError(code, "not JSON at byte \(error.offset): \(error.message)")
        }
        guard encode(root, capacity: bytes.count + 64) == bytes else { throw BundleError(code, fault) }
        return root
    }

    private static func append(_ value: JSONValue, to bytes: inout [UInt8]) {
        switch value {
        case .object(let members):
            // Most objects are already in order, so check that first.
            let isSorted = zip(members, members.dropFirst()).allSatisfy { isBefore($0.name, $1.name) }
            let sorted = isSorted ? members : members.sorted { isBefore($0.name, $1.name) }
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in sorted.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                append(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                append(member.value, to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                append(element, to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .string(let text): append(text, to: &bytes)
        case .number(let text): bytes += text.utf8
        case .bool(let flag): bytes += (flag ? "true" : "false").utf8
        case .null: bytes += "null".utf8
        }
    }

    /// Compares names by UTF-16 code units (RFC 8785 section 3.2.3). This differs from the order of UTF-8 only if one
    /// of the scalars is above U+FFFF and the other is U+E000 or above; their first bytes are 0xee or more.
    private static func isBefore(_ one: String, _ other: String) -> Bool {
        for (first, second) in zip(one.utf8, other.utf8) where first != second {
            guard max(first, second) >= 0xee else { return first < second }
            return one.utf16.lexicographicallyPrecedes(other.utf16)
        }
        return one.utf8.count < other.utf8.count
    }

    /// Writes a string with the escapes of RFC 8785 section 3.2.2.2.
    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        if text.utf8.allSatisfy(isPlain) {
            bytes += text.utf8
        } else {
            appendEscaped(text, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static let escapes: [UInt8: String] = [
        UInt8(ascii: "\""): "\\\"", UInt8(ascii: "\\"): "\\\\", 0x08: "\\b", 0x09: "\\t", 0x0a: "\\n", 0x0c: "\\f",
        0x0d: "\\r",
    ]

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private static func appendEscaped(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += (escapes[byte] ?? "\\u00\(Hex.encode([byte]))").utf8
            }
        }
    }
}

/// Rounds the text of a JSON number to two decimals, half away from zero, without using binary floating point.
package enum DecimalRounding {
    /// - Parameter number: An RFC 8259 number whose magnitude is below 10^6.
    /// - Returns: A number with at most two decimals, without trailing zeros and without `-0`.
    package static func toHundredths(_ number: String) -> String {
        let isNegative = number.hasPrefix("-")
        let parts = number.without(first: isNegative ? 1 : 0).lowercased().pieces(by: "e", limit: 2, keepsEmpty: true)
        // The value is small, so an exponent that does not fit an Int is far below zero, and the result is 0.
        let exponent = parts.count > 1 ? Int(parts[1]) ?? -1000 : 0
        let mantissa = parts[0].pieces(by: ".", keepsEmpty: true)
        let fraction = mantissa.count > 1 ? mantissa[1] : ""
        let digits = (mantissa[0] + fraction).utf8.map { Int($0 - UInt8(ascii: "0")) }
        // The value is 0.d1d2d3… · 10^point, so the hundredths are its first `point + 2` digits.
        let point = mantissa[0].utf8.count + min(max(exponent, -1000), 1000)
        let kept = point + 2
        guard kept >= 0 else { return "0" }
        var hundredths = 0
        for index in 0..<kept where hundredths < 100_000_000 {
            hundredths = hundredths * 10 + (index < digits.count ? digits[index] : 0)
        }
        if kept < digits.count && digits[kept] >= 5 { hundredths += 1 }
        return text(hundredths, isNegative: isNegative)
    }

    private static func text(_ hundredths: Int, isNegative: Bool) -> String {
        if hundredths == 0 { return "0" }
        var text = "\(isNegative ? "-" : "")\(hundredths / 100)"
        let rest = hundredths % 100
        if rest > 0 { text += rest % 10 == 0 ? ".\(rest / 10)" : ".\(rest, 2)" }
        return text
    }
}
