import HTTPTypes
import Hummingbird

/// Header values of forms: a type or a word, and parameters after semicolons.
enum FormType {
    /// Returns the boundary of a form.
    ///
    /// - Throws: 400 if the request is not `multipart/form-data` with a boundary of 1 to 70 characters.
    static func boundary(of request: Request) throws -> [UInt8] {
        let values = request.headers[values: .contentType]
        guard values.count == 1, values[0].utf8.count <= 300,
            let boundary = parameter("boundary", of: Array(values[0].utf8), after: "multipart/form-data"),
            (1...70).contains(boundary.count), boundary.last != 0x20,
            boundary.allSatisfy({ (0x20...0x7e).contains($0) })
        else { throw APIError.validation("Content-Type is not multipart/form-data with a boundary") }
        return boundary
    }

    /// The name of a part; nil if its headers do not give one.
    static func partName(_ headers: [UInt8]) -> [UInt8]? {
        let field = Array("content-disposition:".utf8)
        for line in headers.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d })
        where lowercased(line.prefix(field.count)) == field {
            return parameter("name", of: Array(line.dropFirst(field.count)), after: "form-data")
        }
        return nil
    }

    /// The value of a parameter; nil if it is missing or repeated, or if another word comes before the parameters.
    private static func parameter(_ name: String, of value: [UInt8], after word: String) -> [UInt8]? {
        var parts = split(value).map(trimmed)
        guard lowercased(parts.removeFirst()) == Array(word.utf8) else { return nil }
        let beginning = Array("\(name)=".utf8)
        let found = parts.filter { lowercased($0.prefix(beginning.count)) == beginning }
        guard found.count == 1 else { return nil }
        let text = found[0].dropFirst(beginning.count)
        let quote = UInt8(ascii: "\"")
        guard text.contains(quote) else { return Array(text) }
        let inner = text.dropFirst().dropLast()
        let isQuoted = text.count >= 2 && text.first == quote && text.last == quote && !inner.contains(quote)
        return isQuoted ? Array(inner) : nil
    }

    /// Splits at semicolons that are not inside double quotes.
    private static func split(_ value: [UInt8]) -> [ArraySlice<UInt8>] {
        var isQuoted = false
        return value.split(omittingEmptySubsequences: false) { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ";") && !isQuoted
        }
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        guard let last = text.lastIndex(where: { !isSpace($0) }) else { return [] }
        return text[...last].drop(while: isSpace)
    }

    private static func lowercased(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}
