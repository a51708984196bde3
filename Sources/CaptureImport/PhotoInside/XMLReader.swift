import CaptureNative

/// Reads the part of XML 1.0 with namespaces (W3C) that XMP needs, in one pass and with limits.
///
/// Document types and CDATA are refused. The only entities are the five predefined ones and character references. The
/// text must be UTF-8.
struct XMLReader {
    /// A name with its namespace in front, as RDF joins them; the namespace is empty if there is none.
    typealias Name = [UInt8]
    typealias Attribute = (name: Name, value: String)

    enum Event {
        case start(Name, [Attribute])
        case text(String)
        case end
    }

    /// The text is not XML of this form, or exceeds a limit.
    struct Failure: Error {}

    private static let depthLimit = 64
    private static let attributeLimit = 256
    private static let nameLimit = 256
    private static let namespaceLimit = 256

    private let bytes: [UInt8]
    private var position = 0
    // A hostile packet has millions of names, so they are kept as places in the bytes until one is reported.
    /// The places of the names of the open elements.
    private var open: [Range<Int>] = []
    /// The namespaces of each prefix, the innermost last. The prefix `xml` is always bound.
    private var namespaces = [ArraySlice("xml".utf8): [Array("http://www.w3.org/XML/1998/namespace".utf8)]]
    /// The prefixes that open elements bind, in order.
    private var bindings: [(prefix: ArraySlice<UInt8>, depth: Int)] = []
    /// Whether an empty-element tag was read whose end has not been reported yet.
    private var owesEnd = false
    private var isStarted = false

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
    }

    /// The next event; nil after the end of the outermost element. What follows that element is not read.
    mutating func next() throws(Failure) -> Event? {
        if owesEnd { return close() }
        while true {
            if isStarted && open.isEmpty { return nil }
            guard let byte = current else { throw Failure() }
            guard byte == UInt8(ascii: "<") else {
                let text = try text()
                if !open.isEmpty { return .text(text) }
                guard text.trimmed.isEmpty else { throw Failure() }
                continue
            }
            position += 1
            switch current {
            case UInt8(ascii: "?"):
                position += 1
                try skip(through: "?>")
            case UInt8(ascii: "!"):
                guard bytes[position...].starts(with: "!--".utf8) else { throw Failure() }
                try skip(through: "-->")
            case UInt8(ascii: "/"):
                position += 1
                let name = try name()
                skipSpace()
                let isEnd = open.last.map { bytes[$0] == bytes[name] } ?? false
                guard consume(UInt8(ascii: ">")), isEnd else { throw Failure() }
                return close()
            default: return try startTag()
            }
        }
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
        guard open.count < Self.depthLimit else { throw Failure() }
        open.append(written)
        isStarted = true
        var attributes: [(written: Range<Int>, value: String)] = []
        while true {
            let hadSpace = skipSpace()
            if consume(UInt8(ascii: ">")) { break }
            if consume(UInt8(ascii: "/")) {
                guard consume(UInt8(ascii: ">")) else { throw Failure() }
                owesEnd = true
                break
            }
            guard hadSpace, attributes.count < Self.attributeLimit else { throw Failure() }
            let attribute = (written: try name(), value: try attributeValue())
            try bind(attribute)
            attributes.append(attribute)
        }
        var resolved: [Attribute] = []
        for (name, value) in attributes where prefixBound(by: name) == nil {
            resolved.append((try resolve(name, isAttribute: true), value))
        }
        return .start(try resolve(written, isAttribute: false), resolved)
    }

    private mutating func attributeValue() throws(Failure) -> String {
        skipSpace()
        guard consume(UInt8(ascii: "=")) else { throw Failure() }
        skipSpace()
        guard let quote = current, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw Failure() }
        position += 1
        let start = position
        while let byte = current, byte != quote {
            guard byte != UInt8(ascii: "<") else { throw Failure() }
            position += 1
        }
        guard current == quote else { throw Failure() }
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

extension XMLReader {
    /// The prefix that an attribute with this name binds, empty for the default namespace; nil for other attributes.
    private func prefixBound(by name: Range<Int>) -> Range<Int>? {
        let written = bytes[name]
        if written.elementsEqual("xmlns".utf8) { return name.upperBound..<name.upperBound }
        return written.starts(with: "xmlns:".utf8) ? name.dropFirst("xmlns:".utf8.count) : nil
    }

    private mutating func bind(_ attribute: (written: Range<Int>, value: String)) throws(Failure) {
        guard let prefix = prefixBound(by: attribute.written) else { return }
        let isSmall = bindings.count < Self.namespaceLimit && attribute.value.utf8.count <= Self.nameLimit
        guard isSmall else { throw Failure() }
        bindings.append((bytes[prefix], open.count))
        namespaces[bytes[prefix], default: []].append(Array(attribute.value.utf8))
    }

    /// Resolves the prefix of a name. An element without a prefix has the default namespace, but an attribute without a
    /// prefix has none.
    private func resolve(_ written: Range<Int>, isAttribute: Bool) throws(Failure) -> Name {
        let colon = bytes[written].firstIndex(of: UInt8(ascii: ":"))
        let prefix = written.lowerBound..<(colon ?? written.lowerBound)
        let rest = bytes[(colon.map { $0 + 1 } ?? written.lowerBound)..<written.upperBound]
        guard colon == nil || !prefix.isEmpty, !rest.isEmpty, !rest.contains(UInt8(ascii: ":")) else { throw Failure() }
        if prefix.isEmpty && isAttribute { return Array(rest) }
        let namespace = namespaces[bytes[prefix]]?.last
        guard let namespace = prefix.isEmpty ? namespace ?? [] : namespace else { throw Failure() }
        return namespace + rest
    }
}

extension XMLReader {
    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func consume(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    private mutating func skip(through end: String) throws(Failure) {
        guard let found = ByteSearch.first(Array(end.utf8), in: bytes.span, from: position) else { throw Failure() }
        position = found + end.utf8.count
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
        guard position > start, position - start <= Self.nameLimit else { throw Failure() }
        return start..<position
    }

    private func string(_ bytes: some Sequence<UInt8>) throws(Failure) -> String {
        guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else { throw Failure() }
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
            guard rest.popFirst() == UInt8(ascii: ";") else { throw Failure() }
            text += try entity(String(decoding: name, as: UTF8.self))
        }
        return try string(text)
    }

    private static let entities = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]

    private func entity(_ name: String) throws(Failure) -> [UInt8] {
        if let known = Self.entities[name] { return Array(known.utf8) }
        let hex = name.rest(after: "#x").flatMap { UInt32($0, radix: 16) }
        let code = hex ?? name.rest(after: "#").flatMap { UInt32($0) }
        guard let scalar = code.flatMap(Unicode.Scalar.init) else { throw Failure() }
        return Array(String(scalar).utf8)
    }
}
