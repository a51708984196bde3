import CaptureNative

/// Reads the part of XML 1.0 with namespaces (W3C) that XMP needs, in one pass and with limits.
///
/// Document types are refused. The only entities are the five predefined ones and character references. Nothing outside
/// the given bytes is opened. The text must be UTF-8.
struct XMLReader {
    /// A name with its namespace resolved; the namespace is empty if there is none.
    struct Name: Hashable {
        let namespace: [UInt8]
        let local: [UInt8]

        func isSame(as namespace: String, _ local: String) -> Bool {
            self.local.elementsEqual(local.utf8) && self.namespace.elementsEqual(namespace.utf8)
        }
    }

    struct Attribute {
        let name: Name
        let value: String
    }

    enum Event {
        case start(Name, [Attribute])
        case text(String)
        case end
    }

    struct Failure: Error {
        let offset: Int
        let message: String
    }

    private static let depthLimit = 64
    private static let attributeLimit = 256
    private static let nameLimit = 256
    private static let namespaceLimit = 256
    /// The prefix `xml` is always bound to this namespace.
    private static let xmlNamespace = Array("http://www.w3.org/XML/1998/namespace".utf8)

    private let bytes: [UInt8]
    private var position = 0
    /// The names of the open elements, as written.
    private var open: [[UInt8]] = []
    private var bindings: [(prefix: [UInt8], namespace: [UInt8], depth: Int)] = []
    /// Whether an empty-element tag was read whose end has not been reported yet.
    private var owesEnd = false
    private var isStarted = false

    /// The number of bytes that were read.
    var offset: Int { position }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
    }

    /// The next event; nil after the end of the outermost element. What follows that element is not read.
    mutating func next() throws(Failure) -> Event? {
        if owesEnd { return close() }
        while true {
            if isStarted && open.isEmpty { return nil }
            guard let byte = current else { throw failure("the text ends inside an element") }
            if byte != UInt8(ascii: "<") {
                let text = try text()
                if !open.isEmpty { return .text(text) }
                guard text.trimmed.isEmpty else { throw failure("there is text outside the outermost element") }
            } else if take("<?") {
                try skip(through: "?>")
            } else if take("<!--") {
                try skip(through: "-->")
            } else if take("<![CDATA[") {
                guard !open.isEmpty else { throw failure("there is text outside the outermost element") }
                let start = position
                try skip(through: "]]>")
                return .text(try string(bytes[start..<(position - 3)]))
            } else if take("<!") {
                throw failure("a document type or another declaration, which XMP must not have")
            } else if take("</") {
                let name = try name()
                skipSpace()
                guard take(">"), name == open.last else { throw failure("an end tag that does not match") }
                return close()
            } else {
                position += 1
                return try startTag()
            }
        }
    }

    private mutating func close() -> Event {
        owesEnd = false
        open.removeLast()
        while let last = bindings.last, last.depth > open.count { bindings.removeLast() }
        return .end
    }

    private mutating func startTag() throws(Failure) -> Event {
        let written = try name()
        guard open.count < Self.depthLimit else { throw failure("more than \(Self.depthLimit) nested elements") }
        open.append(written)
        isStarted = true
        var attributes: [(written: [UInt8], value: String)] = []
        while true {
            let hadSpace = skipSpace()
            if take("/>") {
                owesEnd = true
                break
            }
            if take(">") { break }
            guard hadSpace, attributes.count < Self.attributeLimit else { throw failure("a malformed tag") }
            let attribute = (written: try name(), value: try attributeValue())
            guard !attributes.contains(where: { $0.written == attribute.written }) else {
                throw failure("an attribute occurs twice")
            }
            try bind(attribute)
            attributes.append(attribute)
        }
        var resolved: [Attribute] = []
        for (name, value) in attributes where name != Array("xmlns".utf8) && !name.starts(with: "xmlns:".utf8) {
            resolved.append(Attribute(name: try resolve(name, isAttribute: true), value: value))
        }
        return .start(try resolve(written, isAttribute: false), resolved)
    }

    private mutating func attributeValue() throws(Failure) -> String {
        skipSpace()
        guard take("=") else { throw failure("an attribute without a value") }
        skipSpace()
        guard let quote = current, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw failure("an attribute without quotes")
        }
        position += 1
        let start = position
        while let byte = current, byte != quote {
            guard byte != UInt8(ascii: "<") else { throw failure("'<' in an attribute") }
            position += 1
        }
        guard current == quote else { throw failure("the text ends inside an attribute") }
        let value = try unescaped(bytes[start..<position])
        position += 1
        return value
    }

    private mutating func text() throws(Failure) -> String {
        let start = position
        while let byte = current, byte != UInt8(ascii: "<") { position += 1 }
        return try unescaped(bytes[start..<position])
    }
}

// MARK: - Namespaces

extension XMLReader {
    private mutating func bind(_ attribute: (written: [UInt8], value: String)) throws(Failure) {
        let isDefault = attribute.written == Array("xmlns".utf8)
        guard isDefault || attribute.written.starts(with: "xmlns:".utf8) else { return }
        guard bindings.count < Self.namespaceLimit, attribute.value.utf8.count <= Self.nameLimit else {
            throw failure("too many or too long namespaces")
        }
        let prefix = isDefault ? [] : Array(attribute.written.dropFirst(6))
        bindings.append((prefix, Array(attribute.value.utf8), open.count))
    }

    /// Resolves the prefix of a name. An element without a prefix has the default namespace, but an attribute without a
    /// prefix has none.
    private func resolve(_ written: [UInt8], isAttribute: Bool) throws(Failure) -> Name {
        let parts = written.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }) else { throw failure("a name with several colons") }
        let prefix = parts.count == 2 ? Array(parts[0]) : []
        let local = Array(parts[parts.count - 1])
        if prefix == Array("xml".utf8) { return Name(namespace: Self.xmlNamespace, local: local) }
        if prefix.isEmpty && isAttribute { return Name(namespace: [], local: local) }
        if let binding = bindings.last(where: { $0.prefix == prefix }) {
            return Name(namespace: binding.namespace, local: local)
        }
        guard prefix.isEmpty else { throw failure("a prefix without a namespace") }
        return Name(namespace: [], local: local)
    }
}

// MARK: - Bytes

extension XMLReader {
    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func failure(_ message: String) -> Failure { Failure(offset: position, message: message) }

    private mutating func take(_ text: StaticString) -> Bool {
        let wanted = text.description.utf8
        guard bytes.count - position >= wanted.count, bytes[position...].starts(with: wanted) else { return false }
        position += wanted.count
        return true
    }

    private mutating func skip(through end: StaticString) throws(Failure) {
        let end = Array(end.description.utf8)
        guard let found = ByteSearch.first(end, in: bytes.span, from: position) else {
            throw failure("the text ends inside a comment, an instruction or CDATA")
        }
        position = found + end.count
    }

    @discardableResult
    private mutating func skipSpace() -> Bool {
        let start = position
        while let byte = current, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { position += 1 }
        return position > start
    }

    /// Reads a name: ASCII letters, digits and `.-_:`, and any byte of a longer UTF-8 sequence.
    private mutating func name() throws(Failure) -> [UInt8] {
        let start = position
        while let byte = current {
            let isStart =
                byte >= 0x80 || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
            let isLater =
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: ".")
            guard isStart || (isLater && position > start) else { break }
            position += 1
        }
        guard position > start, position - start <= Self.nameLimit else { throw failure("a malformed name") }
        return Array(bytes[start..<position])
    }

    private func string(_ bytes: some Sequence<UInt8>) throws(Failure) -> String {
        guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else {
            throw failure("not valid UTF-8")
        }
        return text
    }

    private func unescaped(_ written: ArraySlice<UInt8>) throws(Failure) -> String {
        guard written.contains(UInt8(ascii: "&")) else { return try string(written) }
        var text: [UInt8] = []
        var rest = written
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "&") else {
                text.append(byte)
                continue
            }
            let name = rest.prefix(12).prefix { $0 != UInt8(ascii: ";") }
            rest = rest.dropFirst(name.count)
            guard rest.popFirst() == UInt8(ascii: ";") else { throw failure("an entity without its end") }
            text += try entity(String(decoding: name, as: UTF8.self))
        }
        return try string(text)
    }

    private func entity(_ name: String) throws(Failure) -> [UInt8] {
        switch name {
        case "lt": return Array("<".utf8)
        case "gt": return Array(">".utf8)
        case "amp": return Array("&".utf8)
        case "quot": return Array("\"".utf8)
        case "apos": return Array("'".utf8)
        default:
            let hex = name.rest(after: "#x").flatMap { UInt32($0, radix: 16) }
            guard let code = hex ?? name.rest(after: "#").flatMap({ UInt32($0) }), let scalar = Unicode.Scalar(code)
            else { throw failure("an entity that XML does not define") }
            return Array(String(scalar).utf8)
        }
    }
}
