/// Searches the resources that Photoshop and other programs write into APP13. IPTC is one of them (Adobe Photoshop File
/// Formats; IPTC-IIM).
enum PhotoshopResources {
    static let header = Array("Photoshop 3.0\0".utf8)
    private static let signature = Array("8BIM".utf8)
    private static let iptc = 0x0404
    private static let exif = [0x0422, 0x0423]
    private static let xmp = 0x0424

    /// The place datasets of record 2: content location code and name, city, sublocation, province, country code and name.
    private static let placeDatasets: Set<UInt8> = [26, 27, 90, 92, 95, 100, 101]

    /// Says for a message what in the resources names a place; nil if nothing does. Resources that cannot be read are
    /// treated as if they named one.
    ///
    /// - Parameter bytes: The resources without `header`.
    static func words(_ bytes: [UInt8]) -> String? {
        var rest = bytes[...]
        func number(_ length: Int) -> Int? {
            guard rest.count >= length else { return nil }
            defer { rest = rest.dropFirst(length) }
            return rest.prefix(length).reduce(0) { $0 << 8 | Int($1) }
        }
        while rest.contains(where: { $0 != 0 }) {
            let unreadable = "APP13 has resources that cannot be read"
            guard rest.starts(with: signature) else { return unreadable }
            rest = rest.dropFirst(signature.count)
            guard let kind = number(2), let nameLength = rest.first else { return unreadable }
            // The name and its length byte, and the data, are padded to an even length.
            rest = rest.dropFirst((Int(nameLength) + 2) / 2 * 2)
            guard let length = number(4), length <= rest.count else { return unreadable }
            let data = rest.prefix(length)
            rest = rest.dropFirst(length + length % 2)
            if kind == iptc, tellsPlace(iptc: data) { return "IPTC names a place" }
            if exif.contains(kind), !data.isEmpty {
                guard let tiff = TIFFStructure(Array(data)) else { return SegmentPlaces.unreadable }
                if let words = TIFFPlaces(tiff, isInside: true).words { return words }
            }
            if kind == xmp, let words = XMPPacket.words(Array(data)) { return words }
        }
        return nil
    }

    /// Whether IPTC datasets name a place. Datasets that cannot be read are treated as if they named one.
    static func tellsPlace(iptc: ArraySlice<UInt8>) -> Bool {
        var rest = iptc
        while rest.first == 0x1c {
            guard rest.count >= 5 else { return true }
            let head = Array(rest.prefix(5))
            // A length of 32768 or more means that the length itself has several bytes.
            let length = Int(head[3]) << 8 | Int(head[4])
            guard length < 0x8000, rest.count >= 5 + length else { return true }
            if head[1] == 2, placeDatasets.contains(head[2]) { return true }
            rest = rest.dropFirst(5 + length)
        }
        // The data may be padded with zeros.
        return rest.contains { $0 != 0 }
    }
}
