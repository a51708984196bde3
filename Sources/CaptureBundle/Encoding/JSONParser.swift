/// Parses one JSON text (RFC 8259). It refuses duplicate names, lone surrogates, long numbers and deep nesting.
///
/// It accepts white space and any order of members, because people and other programs write raw captures. The contents
/// of a bundle are compared with their canonical form afterwards.
package struct JSONParser {
    package struct Failure: Error {
        package let offset: Int
        package let message: String
    }

    private let bytes: [UInt8]
    private let nestingLimit: Int
    private let keptNesting: Int
    private var position = 0
    private var nesting = 0

    /// - Parameters:
    ///   - nesting: The maximum nesting of objects and arrays; the outermost is level 1.
    ///   - keeping: The deepest level whose contents are kept. Deeper objects and arrays are returned empty, for
    ///     callers that do not need them; duplicate names in them are not detected.
    package static func parse(_ bytes: [UInt8], nesting: Int, keeping: Int = .max) throws(Failure) -> JSONValue {
        var parser = JSONParser(bytes: bytes, nestingLimit: nesting, keptNesting: keeping)
        parser.skipSpace()
        let value = try parser.value()
        parser.skipSpace()
        if parser.position < bytes.count { throw parser.failure("text after the end of the JSON value") }
        return value
    }

    /// The line and column of a byte offset, both counted from 1, for messages.
    package static func place(of offset: Int, in bytes: [UInt8]) -> String {
        let before = bytes.prefix(offset)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count + 1
        return "line \(line), column \(column)"
    }

    private func failure(_ message: String) -> Failure { Failure(offset: position, message: message) }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { position += 1 }
    }

    private mutating func consume(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(Failure) -> JSONValue {
        switch current {
        case UInt8(ascii: "{"):
            try enter()
            defer { nesting -= 1 }
            return try object()
        case UInt8(ascii: "["):
            try enter()
            defer { nesting -= 1 }
            return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return .number(try number())
        case nil: throw failure("the text ends where a value was expected")
        default: throw failure("a value was expected")
        }
    }

    private mutating func enter() throws(Failure) {
        nesting += 1
        guard nesting <= nestingLimit else { throw failure("nested deeper than \(nestingLimit) levels") }
        position += 1
    }

    private mutating func object() throws(Failure) -> JSONValue {
        var members: [JSONValue.Member] = []
        var names: Set<[UInt8]>?
        skipSpace()
        if consume(UInt8(ascii: "}")) { return .object([]) }
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw failure("a member name in quotes was expected") }
            let start = position
            let name = try string()
            guard Self.isNew(name, after: members, &names) else {
                throw Failure(offset: start, message: "the name \"\(name)\" appears twice in one object")
            }
            skipSpace()
            guard consume(UInt8(ascii: ":")) else { throw failure("':' was expected") }
            skipSpace()
            let value = try value()
            if nesting <= keptNesting { members.append(JSONValue.Member(name, value)) }
            skipSpace()
            if consume(UInt8(ascii: "}")) { return .object(members) }
            guard consume(UInt8(ascii: ",")) else { throw failure("',' or '}' was expected") }
        }
    }

    /// Whether no earlier member has this name, compared byte by byte. As long as each name is greater than the one
    /// before, as in a bundle, duplicates are impossible; after that the names are hashed.
    private static func isNew(_ name: String, after members: [JSONValue.Member], _ names: inout Set<[UInt8]>?) -> Bool {
        if names == nil {
            guard let last = members.last, !(last.name < name) else { return true }
            names = Set(members.map { Array($0.name.utf8) })
        }
        return names?.insert(Array(name.utf8)).inserted ?? false
    }

    private mutating func array() throws(Failure) -> JSONValue {
        skipSpace()
        if consume(UInt8(ascii: "]")) { return .array([]) }
        var elements: [JSONValue] = []
        while true {
            skipSpace()
            let element = try value()
            if nesting <= keptNesting { elements.append(element) }
            skipSpace()
            if consume(UInt8(ascii: "]")) { return .array(elements) }
            guard consume(UInt8(ascii: ",")) else { throw failure("',' or ']' was expected") }
        }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(Failure) -> JSONValue {
        guard bytes[position...].starts(with: word.utf8) else { throw failure("a value was expected") }
        position += word.utf8.count
        return value
    }

    private mutating func number() throws(Failure) -> String {
        let start = position
        _ = consume(UInt8(ascii: "-"))
        if !consume(UInt8(ascii: "0")) { try digits() }
        if consume(UInt8(ascii: ".")) { try digits() }
        if consume(UInt8(ascii: "e")) || consume(UInt8(ascii: "E")) {
            if !consume(UInt8(ascii: "+")) { _ = consume(UInt8(ascii: "-")) }
            try digits()
        }
        guard position - start <= BundleLimits.numberCharacters else {
            throw Failure(
                offset: start, message: "a number of more than \(BundleLimits.numberCharacters) characters")
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(Failure) {
        let start = position
        while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        if position == start { throw failure("a digit was expected") }
    }
}

extension JSONParser {
    private mutating func string() throws(Failure) -> String {
        position += 1
        var text: [UInt8] = []
        var start = position
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                let end = bytes[start..<position]
                let string =
                    text.isEmpty
                    ? String(validating: end, as: UTF8.self) : String(validating: text + end, as: UTF8.self)
                guard let string else { throw failure("not valid UTF-8") }
                position += 1
                return string
            case UInt8(ascii: "\\"):
                text += bytes[start..<position]
                position += 1
                text += try escape()
                start = position
            case 0..<0x20:
                throw failure("a control character inside a string")
            default:
                position += 1
            }
        }
        throw failure("the text ends inside a string")
    }

    private mutating func escape() throws(Failure) -> [UInt8] {
        guard let byte = current else { throw failure("the text ends inside a string") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0c]
        case UInt8(ascii: "n"): return [0x0a]
        case UInt8(ascii: "r"): return [0x0d]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return Array(String(try escapedScalar()).utf8)
        default:
            position -= 1
            throw failure("an unknown escape sequence")
        }
    }

    private mutating func escapedScalar() throws(Failure) -> Unicode.Scalar {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(UInt16(first)), consume(UInt8(ascii: "\\")), consume(UInt8(ascii: "u")) else {
            throw failure("a lone surrogate")
        }
        let second = try codeUnit()
        guard UTF16.isTrailSurrogate(UInt16(second)),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
        else { throw failure("a lone surrogate") }
        return scalar
    }

    private mutating func codeUnit() throws(Failure) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = current.flatMap(Hex.digitOfEitherCase) else {
                throw failure("four hex digits were expected")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
