/// Recognises the names of positions and places in XMP and in other text.
enum PlaceNames {
    private static let exif = "http://ns.adobe.com/exif/1.0/"
    private static let photoshop = "http://ns.adobe.com/photoshop/1.0/"
    private static let iptcCore = "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/"
    private static let iptcExtension = "http://iptc.org/std/Iptc4xmpExt/2008-02-29/"

    private static let named: [(namespace: String, names: [String])] = [
        (photoshop, ["City", "State", "Country"]),
        (iptcCore, ["Location", "CountryCode", "CountryName"]),
        (
            iptcExtension,
            [
                "LocationCreated", "LocationShown", "City", "CountryCode", "CountryName", "LocationId", "LocationName",
                "ProvinceState", "Sublocation", "WorldRegion",
            ]
        ),
    ]

    /// Whether an XMP property with this name contains a position or a place: EXIF's GPS properties, the place names of
    /// IPTC and Photoshop, and in any namespace a name that contains `latitude` or `longitude`.
    static func isPlace(_ name: XMLReader.Name) -> Bool {
        if name.namespace.elementsEqual(exif.utf8), name.local.starts(with: "GPS".utf8) { return true }
        let list = named.first { name.namespace.elementsEqual($0.namespace.utf8) }?.names ?? []
        return list.contains { name.local.elementsEqual($0.utf8) } || tellsPlace(name.local)
    }

    /// The words for coordinates that are searched in other bytes: in text, in GoPro's GPMF, in NMEA and in QuickTime.
    private static let words = ["latitude", "longitude", "gps5", "gps9", "$gpgga", "$gprmc", "iso6709"].map {
        Array($0.utf8)
    }

    /// Whether the bytes contain one of `words`, in lower or upper case. Zero bytes are skipped, so that words in UTF-16
    /// and UTF-32 are found too.
    static func tellsPlace(_ bytes: some Sequence<UInt8>) -> Bool {
        var matched = [Int](repeating: 0, count: words.count)
        for byte in bytes where byte != 0 {
            let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            for (index, word) in words.enumerated() {
                // The first letter of each word occurs only once in it.
                let count = matched[index]
                matched[index] = lower == word[count] ? count + 1 : lower == word[0] ? 1 : 0
                if matched[index] == word.count { return true }
            }
        }
        return false
    }
}
