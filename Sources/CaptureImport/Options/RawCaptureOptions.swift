public import CaptureBundle

/// The options for reading raw captures (Spec/raw-captures.md).
public struct RawCaptureOptions: Sendable {
    /// The size of the depth map, if the user gives it. It must agree with metadata.json.
    public var depthSize: DepthSize?
    public var withoutDepth: Bool
    public var location: LocationPolicy

    public var layout = LayoutChoice.auto
    /// The file names for the generic form; nil to detect the layout.
    public var patterns: CapturePatterns?
    /// How far the times in the names of a photo and its depth map may be apart; nil if the names must be the same.
    public var matchWithin: MatchLimit?
    /// The unit of the depth samples. It replaces the unit that a layout gives.
    public var depthScale: DepthScale?
    /// The numbers that mean "not measured" in samples of integers; nil means `zeroOrMax` with 16 bits, else `zero`.
    public var depthInvalid: InvalidDepth?
    /// The number above which samples mean "not measured"; it replaces `depthInvalid`.
    public var depthInvalidAbove: Double?
    /// The channel with the depth in an OpenEXR file of several.
    public var depthChannel: String?
    /// The frames to pack, by the app's own numbers; nil packs all.
    public var frames: FrameSelection?
    /// The step between packed frames: 1 packs every frame with a photo, n every nth, beginning with the first.
    public var every = 1
    /// Whether the bundle also gets the original files, byte for byte (`source/…`).
    public var keepsSource = false
    /// The model to use if no file gives it.
    public var deviceModel: String?
    /// The time to use if no file gives it. It is the time of one capture, or of the first frame of an export with an
    /// app's clock.
    public var capturedAt: CaptureTime?
    /// The form of the times in the names of the frames; nil does not read names as times.
    public var timeFromName: NameTimeForm?
    /// Whether several frames may get one time: that of metadata.json or of `capturedAt`.
    public var sharesTime = false
    /// The zone of times in EXIF and in names that have none.
    public var timeZone: ZoneOffset?
    /// Whether to convert a HEIC photo to a JPEG.
    public var convertsPhoto = false
    /// Whether to remove a position from the photo.
    public var rewritesPhoto = false
    /// Whether the photo may keep its position when `location` is not `exact`.
    public var keepsPhotoLocation = false
    /// The entries that can be withheld later, besides `location.json`.
    public var withholdable = EntrySelection()

    public init(depthSize: DepthSize? = nil, withoutDepth: Bool = false, location: LocationPolicy = .exact) {
        self.depthSize = depthSize
        self.withoutDepth = withoutDepth
        self.location = location
    }
}

/// The value of `--layout`.
public enum LayoutChoice: String, Sendable, CaseIterable {
    case auto, capbundle, realitycam
    case scannerApp = "3d-scanner-app"
    case record3d, polycam, nerfstudio
}

/// The numbers that mean "not measured" in a depth map of integers (Spec/raw-captures.md section 3).
public enum InvalidDepth: String, Sendable, CaseIterable {
    case zero
    /// 0, and the highest number that a sample can have: 65535 with 16 bits.
    case zeroOrMax = "zero-or-max"
}

/// A list of frame numbers and ranges, such as `0,10-30`.
public struct FrameSelection: Hashable, Sendable {
    let ranges: [ClosedRange<Int>]

    /// Parses numbers and ranges that are separated by commas; nil for other texts.
    public init?(_ text: String) {
        var ranges: [ClosedRange<Int>] = []
        for piece in text.pieces(by: ",", keepsEmpty: true) {
            let ends = piece.pieces(by: "-", keepsEmpty: true)
            guard (1...2).contains(ends.count), let first = ends[0].number(digits: 1...18),
                let last = ends[ends.count - 1].number(digits: 1...18),
                first <= last
            else { return nil }
            ranges.append(first...last)
        }
        self.ranges = ranges
    }
}

/// The zone of a local time, such as `+01:00` or `Z`.
public struct ZoneOffset: Hashable, Sendable, LosslessStringConvertible {
    public let description: String

    /// Parses a zone of RFC 3339; nil for other texts and for `-00:00`, which means "unknown".
    public init?(_ text: String) {
        // A text such as ".5Z" would be decimals of the second with a zone.
        guard let first = text.utf8.first, "Z+-".utf8.contains(first),
            CaptureTime("2000-01-02T00:00:00\(text)") != nil
        else { return nil }
        description = text
    }
}

/// The maximum sizes of files that are read into memory, in bytes.
enum FileLimits {
    static let photo = 1 << 30
    static let depth = 1 << 30
    static let confidence = 64 << 20
    static let carried = 64 << 20
    /// The app's file about all frames of an export, of which there are at most 100 000.
    static let scan = 128 << 20
}

/// How far the times of a photo and its depth map may be apart: 1 microsecond to 1 second.
public struct MatchLimit: Hashable, Sendable, LosslessStringConvertible {
    public let description: String
    let nanoseconds: Int

    package static let usual = MatchLimit(known: "20ms", 20_000_000)

    private init(known text: String, _ nanoseconds: Int) { (description, self.nanoseconds) = (text, nanoseconds) }

    /// Parses a whole number with a unit, such as `20ms`, `500us` or `1s`; nil for other texts and times above 1 s.
    public init?(_ text: String) {
        for (unit, factor) in [("ms", 1_000_000), ("us", 1000), ("s", 1_000_000_000)] {
            guard let count = text.rest(before: unit)?.number(digits: 1...7) else { continue }
            guard count > 0, count * factor <= 1_000_000_000 else { return nil }
            self.init(known: text, count * factor)
            return
        }
        return nil
    }
}
