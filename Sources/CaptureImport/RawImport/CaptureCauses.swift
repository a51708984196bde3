public import CaptureBundle

/// Why a RAW or a frame of it cannot be packed.
extension BundleError.Cause {
    // RAW as a whole.
    public static let unknownLayout = Self("layout.unknown")
    /// A recording in Record3D's own format, or a scan of Stray Scanner.
    public static let recording = Self("layout.r3d"), scan = Self("layout.stray-scanner")
    /// No file matches a pattern, or no photo and depth map belong together.
    public static let noMatch = Self("pattern.unmatched"), noPair = Self("pattern.pairless")
    /// The value of `severalFrames` is the number of the first, if it has one; that of `noFrame` lists the frames that
    /// can be packed, if they have numbers.
    public static let severalFrames = Self("frames.several"), noFrame = Self("frames.unknown")
    /// RAW is not a folder, or it is a folder without any file of a capture, or an archive with a bundle in it.
    public static let noFolder = Self("raw.folder"), noCapture = Self("capture.missing")
    public static let packedAlready = Self("archive.bundle")

    // The photo.
    /// The values are what `FileKind.photoForm` says and, where a file of another name is meant, that name.
    public static let otherPhoto = Self("photo.other")
    /// The values are those of `otherPhoto`; none for JPEGs.
    public static let severalPhotos = Self("photo.several")
    public static let notConverted = Self("photo.convertible"), notDownloaded = Self("photo.cloud")
    public static let brokenPhoto = Self("photo.broken"), otherHash = Self("photo.hash")
    public static let positionInPhoto = Self("position.photo"), positionInMetadata = Self("position.metadata")
    public static let positionInSources = Self("position.sources")

    // The depth map.
    /// The capture has no depth map.
    public static let noDepth = Self("depth.missing")
    public static let noDepthInside = Self("depth.inside"), rewrittenPhoto = Self("depth.dropped")
    /// The value is the name of the depth map that pack would take.
    public static let severalDepths = Self("depth.several")
    /// The value is the name of the file, where another than that of the error is meant.
    public static let otherDepth = Self("depth.other")
    public static let numpyArchive = Self("depth.npz"), otherUnicode = Self("depth.unicode")
    /// The values are the number of bytes, the width and the height.
    public static let depthLength = Self("depth.length")
    public static let noDepthSize = Self("depth.size")
    /// The value is the unit that was probably meant.
    public static let largeUnit = Self("unit.large")

    // Names and facts.
    /// The value is the name of a file that probably is the missing one.
    public static let otherName = Self("name.other")
    public static let noMetadata = Self("metadata.missing"), byteOrderMark = Self("json.mark")
    /// The values are the form in which the name is a time, and "local" if such a time has no zone. `noTime` has the
    /// layout in front, as `noModel` has; `noOwnTime` has what gives one time for all frames, or an empty text.
    public static let nameIsNoTime = Self("time.name"), noOwnTime = Self("time.shared")
    public static let noZone = Self("time.zone"), noDate = Self("time.date"), oneTime = Self("time.single")
}
