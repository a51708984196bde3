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
    private static let xml = Array("xml".utf8)
    private static let xmlns = Array("xmlns".utf8)
    private static let xmlnsPrefix = Array("xmlns:".utf8)
    private static let comment = Array("!--".utf8)
    private static let data = Array("![CDATA[".utf8)
    private static let endOfComment = Array("-->".utf8)
    private static let endOfData = Array("]]>".utf8)
    private static let endOfInstruction = Array("?>".utf8)

    private let bytes: [UInt8]
    private var position = 0
    // A hostile packet has millions of names, so they are kept as places in the bytes until one is reported.
    /// The places of the names of the open elements.
    private var open: [Range<Int>] = []
    /// The namespaces of each prefix, the innermost last.
    private var namespaces: [ArraySlice<UInt8>: [[UInt8]]] = [:]
    /// The prefixes that open elements bind, in order.
    private var bindings: [(prefix: ArraySlice<UInt8>, depth: Int)] = []
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
            guard byte == UInt8(ascii: "<") else {
                let text = try text()
                if !open.isEmpty { return .text(text) }
                guard text.trimmed.isEmpty else { throw failure("there is text outside the outermost element") }
                continue
            }
            position += 1
            switch current {
            case UInt8(ascii: "?"):
                position += 1
                try skip(through: Self.endOfInstruction)
            case UInt8(ascii: "!"):
                if let text = try declaration() { return .text(text) }
            case UInt8(ascii: "/"):
                position += 1
                let name = try name()
                skipSpace()
                guard take(UInt8(ascii: ">")), let start = open.last, bytes[name] == bytes[start] else {
                    throw failure("an end tag that does not match")
                }
                return close()
            default: return try startTag()
            }
        }
    }

    /// Reads what begins with `<!`: a comment, which is skipped, or CDATA, whose text is returned.
    private mutating func declaration() throws(Failure) -> String? {
        let rest = bytes[position...]
        if rest.starts(with: Self.comment) {
            position += Self.comment.count
            try skip(through: Self.endOfComment)
            return nil
        }
        guard rest.starts(with: Self.data) else {
            throw failure("a document type or another declaration, which XMP must not have")
        }
        guard !open.isEmpty else { throw failure("there is text outside the outermost element") }
        position += Self.data.count
        let start = position
        try skip(through: Self.endOfData)
        return try string(bytes[start..<(position - Self.endOfData.count)])
    }

    private mutating func close() -> Event {
        owesEnd = false
        open.removeLast()
        while let last = bindings.last, last.depth > open.count {
            bindings.removeLast()
            _ = namespaces[last.prefix]?.popLast()
        }
        return .end
    }

    private mutating func startTag() throws(Failure) -> Event {
        let written = try name()
        guard open.count < Self.depthLimit else { throw failure("more than \(Self.depthLimit) nested elements") }
        open.append(written)
        isStarted = true
        var attributes: [(written: Range<Int>, value: String)] = []
        while true {
            let hadSpace = skipSpace()
            if take(UInt8(ascii: ">")) { break }
            if take(UInt8(ascii: "/")) {
                guard take(UInt8(ascii: ">")) else { throw failure("a malformed tag") }
                owesEnd = true
                break
            }
            guard hadSpace, attributes.count < Self.attributeLimit else { throw failure("a malformed tag") }
            let attribute = (written: try name(), value: try attributeValue())
            try bind(attribute)
            attributes.append(attribute)
        }
        guard !occursTwice(attributes.map(\.written)) else { throw failure("an attribute occurs twice") }
        var resolved: [Attribute] = []
        for (name, value) in attributes where prefixBound(by: name) == nil {
            resolved.append(Attribute(name: try resolve(name, isAttribute: true), value: value))
        }
        return .start(try resolve(written, isAttribute: false), resolved)
    }

    /// Whether two names are equal. Comparing each with each would take too long for hundreds of attributes.
    private func occursTwice(_ names: [Range<Int>]) -> Bool {
        guard names.count > 1 else { return false }
        let sorted = names.map { bytes[$0] }.sorted { $0.lexicographicallyPrecedes($1) }
        return zip(sorted, sorted.dropFirst()).contains { $0 == $1 }
    }

    private mutating func attributeValue() throws(Failure) -> String {
        skipSpace()
        guard take(UInt8(ascii: "=")) else { throw failure("an attribute without a value") }
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
    /// The prefix that an attribute with this name binds, empty for the default namespace; nil for other attributes.
    private func prefixBound(by name: Range<Int>) -> Range<Int>? {
        let written = bytes[name]
        guard written.starts(with: Self.xmlns) else { return nil }
        if written.count == Self.xmlns.count { return name.upperBound..<name.upperBound }
        return written.starts(with: Self.xmlnsPrefix) ? name.dropFirst(Self.xmlnsPrefix.count) : nil
    }

    private mutating func bind(_ attribute: (written: Range<Int>, value: String)) throws(Failure) {
        guard let prefix = prefixBound(by: attribute.written) else { return }
        guard bindings.count < Self.namespaceLimit, attribute.value.utf8.count <= Self.nameLimit else {
            throw failure("too many or too long namespaces")
        }
        bindings.append((bytes[prefix], open.count))
        namespaces[bytes[prefix], default: []].append(Array(attribute.value.utf8))
    }

    /// Resolves the prefix of a name. An element without a prefix has the default namespace, but an attribute without a
    /// prefix has none.
    private func resolve(_ written: Range<Int>, isAttribute: Bool) throws(Failure) -> Name {
        let colon = bytes[written].firstIndex(of: UInt8(ascii: ":"))
        let prefix = written.lowerBound..<(colon ?? written.lowerBound)
        let rest = bytes[(colon.map { $0 + 1 } ?? written.lowerBound)..<written.upperBound]
        guard colon == nil || !prefix.isEmpty, !rest.isEmpty, !rest.contains(UInt8(ascii: ":")) else {
            throw failure("a name with several colons")
        }
        let local = Array(rest)
        if bytes[prefix].elementsEqual(Self.xml) { return Name(namespace: Self.xmlNamespace, local: local) }
        if prefix.isEmpty && isAttribute { return Name(namespace: [], local: local) }
        if let namespace = namespaces[bytes[prefix]]?.last { return Name(namespace: namespace, local: local) }
        guard prefix.isEmpty else { throw failure("a prefix without a namespace") }
        return Name(namespace: [], local: local)
    }
}

// MARK: - Bytes

extension XMLReader {
    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func failure(_ message: String) -> Failure { Failure(offset: position, message: message) }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    private mutating func skip(through end: [UInt8]) throws(Failure) {
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
    private mutating func name() throws(Failure) -> Range<Int> {
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
        return start..<position
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
