import Foundation
import PhoneCapture

/// Reads JSON and keeps the characters of numbers, which Foundation does not.
struct JSONReader {
    private let bytes: [UInt8]
    private var position = 0

    private init(_ data: Data) { bytes = Array(data) }

    static func read(_ data: Data) throws -> JSONValue {
        var reader = JSONReader(data)
        let value = try reader.value()
        reader.skipSpace()
        guard reader.next == nil else { throw reader.failure }
        return value
    }

    private var failure: Failure { Failure("metadata.json is not JSON at byte \(position)") }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, " \t\r\n".utf8.contains(byte) { position += 1 }
    }

    private mutating func take(_ text: String) -> Bool {
        guard bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    private mutating func value() throws -> JSONValue {
        skipSpace()
        if take("true") { return .bool(true) }
        if take("false") { return .bool(false) }
        if take("null") { return .null }
        if next == UInt8(ascii: "\"") { return .string(try string()) }
        if take("[") {
            var elements: [JSONValue] = []
            try list(until: "]") { reader in elements.append(try reader.value()) }
            return .array(elements)
        }
        if take("{") {
            var members: JSONValue.Members = []
            try list(until: "}") { reader in
                reader.skipSpace()
                let name = try reader.string()
                reader.skipSpace()
                guard reader.take(":") else { throw reader.failure }
                members.append((name, try reader.value()))
            }
            return .object(members)
        }
        let digits = bytes[position...].prefix { "+-.0123456789Ee".utf8.contains($0) }
        guard !digits.isEmpty else { throw failure }
        position += digits.count
        return .number(String(decoding: digits, as: UTF8.self))
    }

    private mutating func list(until end: String, item: (inout JSONReader) throws -> Void) throws {
        skipSpace()
        if take(end) { return }
        repeat {
            try item(&self)
            skipSpace()
        } while take(",")
        guard take(end) else { throw failure }
    }

    /// Foundation reads the string, because its escapes have only one meaning.
    private mutating func string() throws -> String {
        guard take("\"") else { throw failure }
        let start = position - 1
        while let byte = next, byte != UInt8(ascii: "\"") {
            position = min(position + (byte == UInt8(ascii: "\\") ? 2 : 1), bytes.count)
        }
        guard take("\"") else { throw failure }
        return try JSONDecoder().decode([String].self, from: Data("[".utf8) + bytes[start..<position] + Data("]".utf8))[
            0]
    }
}
