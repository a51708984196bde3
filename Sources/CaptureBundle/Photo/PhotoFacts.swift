/// The facts about a capture in the EXIF of its photo (CIPA DC-008).
package struct PhotoFacts: Equatable, Sendable {
    package private(set) var make: String?
    package private(set) var model: String?
    /// How the stored picture must be turned before it is shown: 1 to 8; 1 is upright.
    package private(set) var orientation: Int?
    /// The size of the stored picture, from the frame header of a JPEG, otherwise from EXIF.
    package private(set) var size: PixelSize?
    package private(set) var time: ExifTime?
    package private(set) var position: Position?

    /// A position in degrees and metres.
    package struct Position: Hashable, Sendable {
        package let latitude: Double
        package let longitude: Double
        /// Metres above sea level, or above the ellipsoid if EXIF says so.
        package let altitude: Double?
        /// The horizontal error in metres.
        package let accuracy: Double?

        /// The value of `location` in metadata.json.
        package var json: JSONValue {
            .members([
                "latitude": .real(latitude), "longitude": .real(longitude), "altitude": altitude.map { .real($0) },
                "accuracy": accuracy.map { .real($0) },
            ])
        }
    }

    /// Reads the header of a JPEG file. A fact that is missing or malformed is nil.
    ///
    /// - Returns: nil if the bytes do not begin with a JPEG's first marker.
    package init?(jpeg: [UInt8]) {
        guard jpeg.starts(with: [0xff, 0xd8]) else { return nil }
        var walk = JPEGWalk(size: jpeg.count, readsHeaderOnly: true)
        let header = walk.finishHeader(jpeg)
        self = header.exif ?? PhotoFacts()
        size = header.frame ?? size
    }

    private init() {}

    /// Reads EXIF alone: TIFF bytes, with or without the six bytes `Exif` NUL NUL before them.
    ///
    /// - Returns: nil if the bytes do not begin with a TIFF header.
    package init?(exif: [UInt8]) {
        let mark = TIFFStructure.exifMark
        guard let tiff = TIFFStructure(exif.starts(with: mark) ? Array(exif.dropFirst(mark.count)) : exif) else {
            return nil
        }
        guard let main = TIFFDirectory(tiff, offset: tiff.firstDirectory) else { return }
        make = main[TIFFTag.make].flatMap(tiff.text)
        model = main[TIFFTag.model].flatMap(tiff.text)
        orientation = main[TIFFTag.orientation].flatMap { tiff.unsigned($0) }.flatMap {
            (1...8).contains($0) ? $0 : nil
        }
        let gps = tiff.directory(of: TIFFTag.gps, in: main)
        position = gps.flatMap { Position(tiff, $0) }
        guard let exif = tiff.directory(of: TIFFTag.exif, in: main) else { return }
        let sides = [TIFFTag.pixelWidth, TIFFTag.pixelHeight].map { exif[$0].flatMap { tiff.unsigned($0) } ?? 0 }
        if sides.allSatisfy({ $0 > 0 }) { size = .init(width: sides[0], height: sides[1]) }
        guard let local = exif[TIFFTag.dateTimeOriginal].flatMap(tiff.text) else { return }
        time = ExifTime(
            local: local, fraction: exif[TIFFTag.subSecTimeOriginal].flatMap(tiff.text),
            offset: exif[TIFFTag.offsetTimeOriginal].flatMap(tiff.text),
            satellites: gps.flatMap { CaptureTime(tiff, gps: $0) })
    }

    /// The maker and the model, such as `Apple iPhone 12 mini`. The maker is not repeated if the model begins with it.
    package var device: String? {
        guard let model else { return make }
        guard let make, !model.lowercased().hasPrefix(make.lowercased()) else { return model }
        return "\(make) \(model)"
    }
}

/// The tags of the GPS directory.
private enum GPSTag: Int {
    case latitudeReference = 1, latitude, longitudeReference, longitude, altitudeReference, altitude, timeStamp
    case dateStamp = 29, horizontalError = 31
}

extension TIFFDirectory {
    fileprivate subscript(tag: GPSTag) -> Entry? { self[tag.rawValue] }
}

extension PhotoFacts.Position {
    /// Reads a GPS directory; nil if the latitude, the longitude or one of their hemispheres is missing.
    fileprivate init?(_ tiff: TIFFStructure, _ gps: TIFFDirectory) {
        func angle(_ tag: GPSTag, _ referenceTag: GPSTag, signs: (String, String), limit: Double) -> Double? {
            guard let entry = gps[tag], let reference = gps[referenceTag].flatMap(tiff.text),
                reference == signs.0 || reference == signs.1, let degrees = tiff.rational(entry)
            else { return nil }
            // Some programs write degrees with decimals, and 0/0 or nothing for minutes and seconds.
            let minutes = tiff.rational(entry, at: 1) ?? 0
            let seconds = tiff.rational(entry, at: 2) ?? 0
            let value = degrees + minutes / 60 + seconds / 3600
            guard value >= 0, value <= limit else { return nil }
            return reference == signs.1 ? -value : value
        }
        guard let latitude = angle(.latitude, .latitudeReference, signs: ("N", "S"), limit: 90),
            let longitude = angle(.longitude, .longitudeReference, signs: ("E", "W"), limit: 180)
        else { return nil }
        self.latitude = latitude
        self.longitude = longitude
        // 0 and 2 mean above sea level or the ellipsoid, 1 and 3 below.
        let isBelow = gps[GPSTag.altitudeReference].flatMap { tiff.unsigned($0) }.map { $0 == 1 || $0 == 3 } ?? false
        altitude = gps[GPSTag.altitude].flatMap { tiff.rational($0) }.map { isBelow ? -$0 : $0 }
        accuracy = gps[GPSTag.horizontalError].flatMap { tiff.rational($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}

extension CaptureTime {
    /// Reads GPSDateStamp and GPSTimeStamp, which are UTC.
    fileprivate init?(_ tiff: TIFFStructure, gps: TIFFDirectory) {
        guard let date = gps[GPSTag.dateStamp].flatMap(tiff.text), let entry = gps[GPSTag.timeStamp],
            let hours = tiff.rational(entry), let minutes = tiff.rational(entry, at: 1),
            let seconds = tiff.rational(entry, at: 2),
            (0..<24).contains(hours), (0..<60).contains(minutes), (0..<61).contains(seconds)
        else { return nil }
        let parts = date.pieces(by: ":", keepsEmpty: true)
        guard parts.count == 3, let day = CaptureTime("\(parts[0])-\(parts[1])-\(parts[2])T00:00:00Z") else {
            return nil
        }
        self.init(milliseconds: day.milliseconds + Int(((hours * 60 + minutes) * 60 + seconds) * 1000))
    }
}
