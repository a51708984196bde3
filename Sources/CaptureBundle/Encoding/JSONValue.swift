/// A JSON value that keeps the order of members and the characters of numbers, which this format needs.
package enum JSONValue: Sendable {
    case object([Member])
    case array([JSONValue])
    case string(String)
    /// A number as it was written.
    case number(String)
    case bool(Bool)
    case null

    package struct Member: Sendable {
        package let name: String
        package let value: JSONValue

        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    package static func integer(_ value: Int) -> JSONValue { .number(String(value)) }

    /// A number with the shortest digits that restore the value; null for infinity and NaN, which JSON does not have.
    package static func real(_ value: some BinaryFloatingPoint & LosslessStringConvertible) -> JSONValue {
        value.isFinite ? .number(value.description) : .null
    }

    /// An object without the members that are nil.
    package static func members(_ pairs: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        .object(pairs.compactMap { name, value in value.map { Member(name, $0) } })
    }

    package var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    package var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// Whether the value is an object or an array.
    package var isContainer: Bool { members != nil || elements != nil }

    package var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var numberText: String? {
        if case .number(let text) = self { text } else { nil }
    }

    /// The value of a number that is written with digits only and fits 53 bits; nil for others.
    package var integer: Int? {
        guard let text = numberText, text.utf8.count <= 16, text.utf8.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        guard let value = Int(text), value <= 1 << 53 - 1 else { return nil }
        return value
    }

    /// The value of the member with this name. Names are compared byte by byte, since Swift's `==` treats composed and
    /// decomposed characters as equal.
    package subscript(name: String) -> JSONValue? {
        members?.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    package var kind: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .bool: "a truth value"
        case .null: "null"
        }
    }
}
