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
        if rest > 0 { text += rest % 10 == 0 ? ".\(rest / 10)" : rest < 10 ? ".0\(rest)" : ".\(rest)" }
        return text
    }
}
