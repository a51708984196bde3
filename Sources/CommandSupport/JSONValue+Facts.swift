package import CaptureBundle

/// Values of reports. A fact that is nil gives no member.
extension JSONValue {
    package static func text(_ value: (some CustomStringConvertible)?) -> JSONValue? {
        value.map { .string($0.description) }
    }

    package static func count(_ value: (some BinaryInteger)?) -> JSONValue? { value.map { .integer(Int($0)) } }

    package static func texts(_ values: [some CustomStringConvertible]) -> JSONValue {
        .array(values.map { .string($0.description) })
    }
}
