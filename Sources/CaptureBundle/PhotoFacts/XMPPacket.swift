/// The top-level properties of an XMP packet (ISO 16684-1): simple ones, and arrays of simple items.
///
/// Structures are skipped; their names are used only for `place`.
package struct XMPPacket: Sendable {
    private struct Property: Sendable {
        let namespace: [UInt8]
        let name: [UInt8]
        /// One text, or the items of an array.
        var texts: [String]
    }

    private var properties: [Property] = []
    /// The namespaces of all properties at any depth; at most 256.
    private var namespaces: Set<[UInt8]> = []
    /// The first property, at any depth, that contains a position or names a place; nil if there is none.
    package private(set) var place: String?
    /// The number of bytes up to the end of the outermost element.
    package private(set) var end = 0

    static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    static let meta = "adobe:ns:meta/"
    static let note = "http://ns.adobe.com/xmp/note/"
    static let byteLimit = 64 << 20
    private static let propertyLimit = 4096

    /// Reads a packet; nil if it is not XML in the form that XMP allows, or exceeds a limit.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.byteLimit else { return nil }
        var reader = XMLReader(bytes)
        var walk = Walk()
        do throws(XMLReader.Failure) {
            while let event = try reader.next() {
                guard walk.take(event, into: &self) else { return nil }
            }
        } catch { return nil }
        end = reader.offset
    }

    /// The text of a simple property; nil if there is none.
    package func text(_ namespace: String, _ name: String) -> String? {
        texts(namespace, name).flatMap { $0.count == 1 ? $0[0] : nil }
    }

    /// The items of an array, or the one text of a simple property; nil if there is none.
    package func texts(_ namespace: String, _ name: String) -> [String]? {
        properties.first { $0.name.elementsEqual(name.utf8) && $0.namespace.elementsEqual(namespace.utf8) }?.texts
    }

    /// Whether a property at any depth has this namespace.
    package func uses(_ namespace: String) -> Bool { namespaces.contains(Array(namespace.utf8)) }

    /// Adds the properties of the extended packet.
    mutating func add(_ other: XMPPacket) {
        properties += other.properties
        namespaces.formUnion(other.namespaces)
        place = place ?? other.place
    }

    private mutating func see(_ name: XMLReader.Name) {
        if namespaces.count < 256 { namespaces.insert(name.namespace) }
        if place == nil, PlaceNames.isPlace(name) { place = String(decoding: name.local, as: UTF8.self) }
    }

    private mutating func add(_ name: XMLReader.Name, _ texts: [String]) -> Bool {
        guard properties.count < Self.propertyLimit else { return false }
        properties.append(Property(namespace: name.namespace, name: name.local, texts: texts))
        return true
    }
}

extension XMPPacket {
    /// Goes through the elements from the root to the properties.
    private struct Walk {
        /// The names of the open elements.
        private var path: [XMLReader.Name] = []
        /// The depth of the open `rdf:Description` whose children are properties.
        private var description: Int?
        private var text = ""
        private var items: [String] = []
        private var form = Form.simple

        private enum Form { case simple, array, structure }

        /// Processes an event; false if the packet exceeds a limit.
        mutating func take(_ event: XMLReader.Event, into packet: inout XMPPacket) -> Bool {
            switch event {
            case .start(let name, let attributes): return start(name, attributes, &packet)
            case .text(let more):
                if description != nil { text += more }
                return true
            case .end: return end(&packet)
            }
        }

        private func isRDF(_ name: XMLReader.Name?, _ local: String) -> Bool {
            name?.isSame(as: XMPPacket.rdf, local) ?? false
        }

        private mutating func start(
            _ name: XMLReader.Name, _ attributes: [XMLReader.Attribute], _ packet: inout XMPPacket
        ) -> Bool {
            let isTop = isRDF(name, "Description") && isRDF(path.last, "RDF") && description == nil
            path.append(name)
            packet.see(name)
            for attribute in attributes {
                packet.see(attribute.name)
                if isTop, !attribute.name.namespace.elementsEqual(XMPPacket.rdf.utf8) {
                    guard packet.add(attribute.name, [attribute.value]) else { return false }
                }
            }
            if isTop { description = path.count }
            guard let description else { return true }
            switch path.count - description {
            case 1: (items, form) = ([], .simple)
            case 2:
                let isArray = form == .simple && ["Seq", "Bag", "Alt"].contains { isRDF(name, $0) }
                form = isArray ? .array : .structure
            case 3 where isRDF(name, "li"): break
            case 3...: form = .structure
            default: break
            }
            text = ""
            return true
        }

        private mutating func end(_ packet: inout XMPPacket) -> Bool {
            defer { text = "" }
            let name = path.popLast()
            guard let description, let name else { return true }
            switch path.count - description {
            case -1: self.description = nil
            case 0: return close(name, &packet)
            case 2 where form == .array: items.append(text)
            default: break
            }
            return true
        }

        private func close(_ name: XMLReader.Name, _ packet: inout XMPPacket) -> Bool {
            switch form {
            case .simple: packet.add(name, [text])
            case .array: packet.add(name, items)
            case .structure: true
            }
        }
    }
}
