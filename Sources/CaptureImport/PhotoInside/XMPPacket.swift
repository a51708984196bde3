import CaptureBundle

/// The top-level properties of an XMP packet (ISO 16684-1): simple ones, and arrays of simple items.
///
/// Structures are skipped.
package struct XMPPacket: Sendable {
    /// One text or the items of an array for each name with its namespace; the first property of a name counts.
    private var properties: [[UInt8]: [String]] = [:]

    static let header = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    private static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    private static let byteLimit = 1 << 24
    private static let propertyLimit = 4096

    /// Reads a packet; nil if it is not XML in the form that XMP allows, or exceeds a limit.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.byteLimit else { return nil }
        var reader = XMLReader(bytes)
        var walk = Walk()
        do throws(XMLReader.Failure) {
            while let event = try reader.next() { try walk.consume(event, into: &self) }
        } catch { return nil }
    }

    /// Reads the packet of a JPEG image (XMP specification part 3, section 1.1.3). Extended XMP is not read.
    static func read(_ jpeg: [UInt8], _ image: JPEGSegments) -> XMPPacket? {
        let segment = image.segments(0xe1, beginningWith: header, in: jpeg).first
        return segment.flatMap { XMPPacket(Array(jpeg[$0.data].dropFirst(header.count))) }
    }

    /// The text of a simple property; nil if there is none.
    package func text(_ namespace: String, _ name: String) -> String? {
        texts(namespace, name).flatMap { $0.count == 1 ? $0[0] : nil }
    }

    /// The items of an array, or the one text of a simple property; nil if there is none.
    package func texts(_ namespace: String, _ name: String) -> [String]? {
        properties[Array(namespace.utf8) + Array(name.utf8)]
    }

    private mutating func add(_ name: XMLReader.Name, _ texts: [String]) throws(XMLReader.Failure) {
        guard properties.count < Self.propertyLimit else { throw XMLReader.Failure() }
        if properties[name] == nil { properties[name] = texts }
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

        /// Processes an event.
        ///
        /// - Throws: if the packet exceeds a limit.
        mutating func consume(_ event: XMLReader.Event, into packet: inout XMPPacket) throws(XMLReader.Failure) {
            switch event {
            case .start(let name, let attributes): try start(name, attributes: attributes, in: &packet)
            case .text(let more): if description != nil { text += more }
            case .end: try end(&packet)
            }
        }

        private func isRDF(_ name: XMLReader.Name?, _ local: String) -> Bool {
            name?.elementsEqual((XMPPacket.rdf + local).utf8) ?? false
        }

        private mutating func start(
            _ name: XMLReader.Name, attributes: [XMLReader.Attribute], in packet: inout XMPPacket
        ) throws(XMLReader.Failure) {
            let isTop = isRDF(name, "Description") && isRDF(path.last, "RDF") && description == nil
            path.append(name)
            for attribute in attributes where isTop && !attribute.name.starts(with: XMPPacket.rdf.utf8) {
                try packet.add(attribute.name, [attribute.value])
            }
            if isTop { description = path.count }
            guard let description else { return }
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
        }

        private mutating func end(_ packet: inout XMPPacket) throws(XMLReader.Failure) {
            defer { text = "" }
            let name = path.popLast()
            guard let description, let name else { return }
            switch path.count - description {
            case -1: self.description = nil
            case 0 where form != .structure: try packet.add(name, form == .array ? items : [text])
            case 2 where form == .array: items.append(text)
            default: break
            }
        }
    }
}
