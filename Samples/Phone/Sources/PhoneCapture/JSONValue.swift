import Foundation

/// A JSON value, whose numbers keep their characters: `["lens": "wide", "gain": 0.5, "zoom": .number("1.50")]`.
public enum JSONValue: Sendable {
    case object(Members)
    case array([JSONValue])
    case string(String)
    /// A number of RFC 8259, as it is to be written.
    case number(String)
    case bool(Bool)
    case null

    public typealias Members = [(name: String, value: JSONValue)]

    func encoded() throws -> Data { Data(try canonical().utf8) }

    /// The text in the form of Spec/capture-bundle.md section 6: RFC 8785, except that numbers are as they were given.
    func canonical(levels: Int = 32) throws -> String {
        switch self {
        case .object where levels == 0, .array where levels == 0: throw CaptureError("JSON is nested above 32 levels")
        case .object(let members):
            let sorted = members.sorted { $0.name.utf16.lexicographicallyPrecedes($1.name.utf16) }
            for (one, next) in zip(sorted, sorted.dropFirst()) where one.name.utf8.elementsEqual(next.name.utf8) {
                throw CaptureError("a JSON object has two members with the name \(one.name)")
            }
            let pairs = try sorted.map { "\(Self.quoted($0.name)):\(try $0.value.canonical(levels: levels - 1))" }
            return "{\(pairs.joined(separator: ","))}"
        case .array(let elements):
            return "[\(try elements.map { try $0.canonical(levels: levels - 1) }.joined(separator: ","))]"
        case .string(let text): return Self.quoted(text)
        case .number(let text):
            let form = #/-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/#
            guard text.utf8.count <= 64, text.wholeMatch(of: form) != nil else {
                throw CaptureError("\(text) is not a JSON number of at most 64 characters")
            }
            return text
        case .bool(let value): return value ? "true" : "false"
        case .null: return "null"
        }
    }

    private static let escapes: [UnicodeScalar: String] = [
        "\u{8}": "\\b", "\t": "\\t", "\n": "\\n", "\u{c}": "\\f", "\r": "\\r", "\"": "\\\"", "\\": "\\\\",
    ]

    private static func quoted(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar in
            escapes[scalar] ?? (scalar.value < 0x20 ? String(format: "\\u%04x", scalar.value) : String(scalar))
        }
        return "\"\(scalars.joined())\""
    }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral
{
    public init(dictionaryLiteral members: (String, JSONValue)...) { self = .object(members.map { ($0, $1) }) }
    public init(stringLiteral text: String) { self = .string(text) }
    public init(integerLiteral value: Int) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .real(value) }

    public static func integer(_ value: Int) -> JSONValue { .number(String(value)) }

    /// A number with the fewest digits that give the value back. `RawCapture.signed` refuses infinity and NaN.
    public static func real(_ value: Double) -> JSONValue { .number(value.description) }
}
