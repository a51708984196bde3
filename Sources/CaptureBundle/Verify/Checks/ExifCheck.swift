import CaptureNative

extension BundleError.Code {
    public static let exifTime = Self("exif.time")
    public static let exifModel = Self("exif.model")
    public static let exifOrientation = Self("exif.orientation")
    public static let exifSize = Self("exif.size")
    public static let exifPosition = Self("exif.position")
}

/// Compares the EXIF of the photo with the metadata: rules X1 to X5 (Spec/capture-bundle.md section 11.1).
struct ExifCheck {
    /// Faults if the user requires `exif`, otherwise warnings.
    private(set) var disagreements: [BundleError] = []
    /// Findings that are always warnings.
    private(set) var remarks: [BundleError] = []

    /// - Parameter report: The report of a sound bundle.
    init(_ report: VerificationReport) {
        guard let photo = report.photo, let exif = photo.exif, let metadata = report.metadata else { return }
        disagreements = [
            Self.time(exif, metadata), Self.model(exif, metadata), Self.orientation(exif, photo.frame, with: metadata),
            Self.size(exif, photo.frame, with: metadata), report.location.flatMap { Self.position(exif, $0) },
        ].compactMap(\.self)
        if exif.position != nil, report.withheld.contains(.location) {
            remarks.append(
                Self.finding(.exifPosition, "its EXIF tells a position, although location.json is withheld"))
        }
    }

    private static func finding(_ code: BundleError.Code, _ message: String) -> BundleError {
        BundleError(code, message, entry: EntryPath.photo.description)
    }
}

// MARK: - Time

extension ExifCheck {
    private static let clockTolerance = 2000
    private static let satelliteTolerance = 5 * 60_000
    private static let zoneStep = 15 * 60_000
    private static let zoneLimit = 56 * zoneStep

    private static func time(_ exif: PhotoFacts, _ metadata: CaptureMetadata) -> BundleError? {
        guard let time = exif.time, let asUTC = CaptureTime(time.local + "Z") else { return nil }
        let captured = metadata.capturedAt.milliseconds
        let claim = "captured_at is \(metadata.capturedAtText)"
        if let offset = time.offset, let moment = CaptureTime(time.local + offset) {
            guard abs(moment.milliseconds - captured) > clockTolerance else { return nil }
            return finding(.exifTime, "its EXIF says \(time.local)\(offset), but \(claim)")
        } else if let satellites = time.satellites {
            guard abs(satellites.milliseconds - captured) > satelliteTolerance else { return nil }
            return finding(.exifTime, "its EXIF says \(satellites) as GPS time, but \(claim)")
        } else {
            guard !isExplainedByAZone(asUTC.milliseconds - captured) else { return nil }
            return finding(
                .exifTime,
                "its EXIF says \(time.local) without a time zone, and this differs from captured_at "
                    + "\(metadata.capturedAtText) in every time zone")
        }
    }

    /// Whether local time minus UTC, in milliseconds, is the offset of a possible time zone.
    private static func isExplainedByAZone(_ difference: Int) -> Bool {
        guard abs(difference) <= zoneLimit + clockTolerance else { return false }
        let rest = abs(difference) % zoneStep
        return min(rest, zoneStep - rest) <= clockTolerance
    }
}

// MARK: - Model

extension ExifCheck {
    private static func model(_ exif: PhotoFacts, _ metadata: CaptureMetadata) -> BundleError? {
        let stated = metadata.deviceModel
        // Identifiers such as "iPhone14,2" and descriptions such as "unknown (App 1.2)" are not names in EXIF.
        let isOther = stated.utf8.contains { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "(") }
        guard !isOther, let model = exif.model else { return nil }
        let whole = letters((exif.make ?? "") + model)
        guard ByteSearch.first(letters(stated), in: whole.span) == nil,
            ByteSearch.first(letters(model), in: letters(stated).span) == nil
        else { return nil }
        return finding(.exifModel, "its EXIF says \(exif.device ?? model), but device_model is \(stated)")
    }

    /// The bytes without spaces, and with ASCII letters in lower case.
    private static func letters(_ text: String) -> [UInt8] {
        text.utf8.filter { $0 != 0x20 }.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}

// MARK: - Picture and position

extension ExifCheck {
    private static func orientation(
        _ exif: PhotoFacts, _ frame: PixelSize?, with metadata: CaptureMetadata
    ) -> BundleError? {
        guard let orientation = exif.orientation, (1...4).contains(orientation), let frame,
            let depth = metadata.depthSize, frame.isAcross(depth)
        else { return nil }
        return finding(
            .exifOrientation,
            "it is \(frame) and the depth map \(depth), but orientation \(orientation) in its EXIF does not turn it by a "
                + "quarter")
    }

    private static func size(
        _ exif: PhotoFacts, _ frame: PixelSize?, with metadata: CaptureMetadata
    ) -> BundleError? {
        guard let said = exif.size else { return nil }
        if let frame, !said.hasSides(frame.width, frame.height) {
            return finding(.exifSize, "its EXIF says \(said), but the picture is \(frame)")
        }
        let camera = metadata.root["camera_intrinsics"]
        guard let width = CaptureMetadata.side(camera?["width"]), let height = CaptureMetadata.side(camera?["height"]),
            !said.hasSides(width, height)
        else { return nil }
        return finding(.exifSize, "its EXIF says \(said), but camera_intrinsics is for \(width)x\(height)")
    }

    private static let degreeTolerance = 0.02

    /// The message contains no position, because no report of a verification does.
    private static func position(_ exif: PhotoFacts, _ location: GeoPosition) -> BundleError? {
        guard let position = exif.position, let latitude = Double(location.latitude),
            let longitude = Double(location.longitude)
        else { return nil }
        let north = abs(position.latitude - latitude)
        let turn = abs(position.longitude - longitude)
        let east = turn > 180 ? 360 - turn : turn
        guard north > degreeTolerance || east > degreeTolerance else { return nil }
        return finding(
            .exifPosition, "the position in its EXIF is more than \(degreeTolerance) degrees from location.json")
    }
}

extension PixelSize {
    /// Whether these are the two sides, in either order.
    fileprivate func hasSides(_ one: Int, _ other: Int) -> Bool {
        width == one && height == other || width == other && height == one
    }
}
