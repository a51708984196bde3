/// Recognises the names of positions and places in XMP and in other text.
enum PlaceNames {
    private static let exif = "http://ns.adobe.com/exif/1.0/"
    private static let photoshop = "http://ns.adobe.com/photoshop/1.0/"

    /// Names of IPTC and Photoshop, which other namespaces use in the same meaning, and those of the geo vocabulary.
    private static let names = Set(
        [
            "City", "Country", "CountryCode", "CountryName", "Location", "LocationCreated", "LocationId",
            "LocationName", "LocationShown", "ProvinceState", "Sublocation", "WorldRegion", "lat", "lon", "long", "lng",
        ].map { Array($0.utf8) })

    /// Whether an XMP property with this name contains a position or a place: EXIF's GPS properties, the place names of
    /// IPTC and Photoshop, and in any namespace a name that contains `latitude` or `longitude`.
    static func isPlace(_ name: XMLReader.Name) -> Bool {
        // A hostile packet has millions of short names. All names of places have at least three bytes.
        guard name.local.count >= 3 else { return false }
        if name.namespace.elementsEqual(exif.utf8), name.local.starts(with: "GPS".utf8) { return true }
        if name.namespace.elementsEqual(photoshop.utf8), name.local.elementsEqual("State".utf8) { return true }
        return names.contains(name.local) || tellsPlace(name.local)
    }

    /// Words in any bytes that are not read as EXIF or XMP: coordinates in text, in GoPro's GPMF, of NMEA and of
    /// QuickTime (`ISO6709`, and `©xyz` in Latin-1).
    private static let words =
        longWords + ["gps5", "gps9"].map { Array($0.utf8) } + [[0xa9] + Array("xyz".utf8)]
    /// `?` is any letter: the two letters of the talker in NMEA.
    private static let longWords =
        ["latitude", "longitude", "$??gga", "$??rmc", "$??gll", "$??gns", "iso6709"].map { Array($0.utf8) }
    /// Words that may belong to a place, for what cannot be read.
    private static let vagueWords = ["gps", "latitude", "longitude", "city", "country", "location", "state", "region"]
        .map { Array($0.utf8) }

    /// Whether the bytes contain a word that tells a place, in lower or upper case. Zero bytes are skipped, so that UTF-16
    /// and UTF-32 are found too.
    static func tellsPlace(_ bytes: some Sequence<UInt8>) -> Bool { contain(words, bytes) }

    /// Whether the bytes contain one of these words with six bytes or more.
    static func tellsPlaceAmongSamples(_ bytes: some Sequence<UInt8>) -> Bool { contain(longWords, bytes) }

    /// Whether the bytes contain a word that may belong to a place.
    static func mayTellPlace(_ bytes: some Sequence<UInt8>) -> Bool { contain(vagueWords, bytes) }

    private static func contain(_ words: [[UInt8]], _ bytes: some Sequence<UInt8>) -> Bool {
        var matched = [Int](repeating: 0, count: words.count)
        for byte in bytes where byte != 0 {
            let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lower)
            for (index, word) in words.enumerated() {
                // The first letter of each word occurs only once in it.
                let count = matched[index]
                let isNext = lower == word[count] || isLetter && word[count] == UInt8(ascii: "?")
                matched[index] = isNext ? count + 1 : lower == word[0] ? 1 : 0
                if matched[index] == word.count { return true }
            }
        }
        return false
    }
}
