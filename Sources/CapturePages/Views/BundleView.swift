public import CaptureBundle
import CaptureNative

/// What a page shows of a bundle: the verification report, and the contents that were read in the same pass. So the
/// contents that are shown are the contents that were verified.
///
/// ```swift
/// let view = try Verifier(trust: trust).view(BundleSource(path: "cap.bundle"))
/// let pictures = BundlePictures().pictures(of: view)
/// ```
public struct BundleView: Sendable {
    /// The name of the file as it was given; `-` for standard input.
    public let file: String
    public let report: VerificationReport
    /// The bytes of photo.jpg as they are in the bundle, with all metadata; nil unless the bundle is sound and the photo
    /// has at most `photoLimit` bytes.
    public let photo: [UInt8]?
    /// The depth map; nil unless the bundle is sound and has one.
    package let depth: DepthSamples?
    /// The position in location.json; nil unless the bundle is sound and contains it. The EXIF of the photo can contain
    /// another one.
    public let position: GeoPosition?

    /// The maximum number of bytes of `photo`. A larger photo is verified, but not kept in memory.
    public static let photoLimit = 1 << 26

    /// The result for one of many files. A failure means that the file cannot be read.
    package struct Outcome: Sendable {
        package let file: String
        package let result: Result<BundleView, BundleError>
    }

    /// Whether neither the contents nor the signature are wrong. It says nothing about trust.
    public var isSound: Bool { report.isSound }
}

extension BundleView {
    /// The range of the depth map in metres, and the number of its samples; nil unless the bundle is sound and has a depth
    /// map.
    public var depthStatistics: DepthStatistics? { depth?.statistics }

    /// Whether the bundle contains a photo that is too large for `photo`.
    package var hasLargePhoto: Bool {
        report.manifest?.entry(.photo).map { $0.size > Self.photoLimit } ?? false
    }
}

extension Verifier {
    /// Verifies a bundle as `verify` does, and keeps what a page shows. The bundle is read once. The photo and the depth
    /// map are in memory afterwards.
    ///
    /// - Parameter stamp: A time stamp to check with the bundle.
    /// - Throws: An error only if the bytes cannot be read. A fault of the bundle is in the report.
    public func view(_ source: BundleSource, stamp: TimeStamp? = nil) throws(BundleError) -> BundleView {
        let collector = ContentCollector(photoLimit: BundleView.photoLimit)
        let report = try verify(BundleReader(source), observer: collector, stamp: stamp)
        return BundleView(
            file: source.name, report: report, photo: report.isSound ? collector.photo : nil,
            depth: report.isSound ? collector.depth : nil, position: report.isSound ? collector.position : nil)
    }

    /// Verifies many bundles as `verifyAll` does, and passes what a report shows of each to `prepare`.
    ///
    /// - Parameter prepare: Turns each outcome into a value. It is called on several threads.
    package func viewAll<Value: Sendable>(
        threads: Int? = nil, next: @escaping @Sendable () -> Result<BundleSource.Place, BundleError>?,
        prepare: @escaping @Sendable (BundleView.Outcome) -> Value, deliver: (Value) throws -> Bool
    ) throws(BundleError) {
        try native {
            try OrderedWork.run(
                threads: threads ?? Thread.processors, next: next, work: { prepare(viewed($0)) }, deliver: deliver)
        }
    }

    private func viewed(_ place: Result<BundleSource.Place, BundleError>) -> BundleView.Outcome {
        var name = ""
        do {
            let place = try place.get()
            name = place.name
            return BundleView.Outcome(file: name, result: .success(try view(place.open())))
        } catch {
            return BundleView.Outcome(file: error.file ?? name, result: .failure(error))
        }
    }
}

/// The contents of a bundle, as far as they can be read. Trust is not checked.
public struct UntrustedView: Sendable {
    /// The verification report without trust and policy. Its faults say what is broken.
    public let report: VerificationReport
    /// Statistics of the depth map; nil if there is none or it could not be read to its end.
    public let depth: DepthStatistics?
    /// The payload entries according to their headers if the manifest is malformed. No signature covers them.
    public private(set) var unsignedEntries: [UnsignedEntry] = []
    /// The position; nil if the bundle has none or it is malformed.
    public let position: GeoPosition?

    /// A payload entry of which only the header is known.
    public struct UnsignedEntry: Hashable, Sendable {
        public let name: String
        public let size: Int
    }

    /// Reads a bundle once. Memory is constant, except that up to `DepthStatistics.medianLimit` samples are kept for
    /// the median, and up to `DepthGrid.sideLimit` rows and columns of the depth map.
    ///
    /// - Throws: An error only if the bytes cannot be read.
    public init(_ source: BundleSource) throws(BundleError) { try self.init(source, ContentCollector()) }

    init(_ source: BundleSource, _ collector: ContentCollector) throws(BundleError) {
        let reader = BundleReader(source)
        var report = try Verifier.soundness.verify(reader, observer: collector)
        report.faults.removeAll { $0.code == .trustUnknown }
        report.checks.removeAll { $0.name == "trust" || $0.name == "policy" }
        let isManifestMalformed = report.faults.contains { $0.code.rawValue.hasPrefix("manifest.") }
        while isManifestMalformed, unsignedEntries.count < BundleLimits.entries, let entry = reader.nextHeader() {
            do { try reader.readData { _ in } } catch { break }
            unsignedEntries.append(UnsignedEntry(name: entry.name, size: entry.size))
        }
        report.bytes = reader.position
        self.report = report
        depth = collector.depth?.statistics
        position = collector.position
    }
}
