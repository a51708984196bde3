public import CaptureBundle
import CaptureNative

/// The contents of a bundle, as far as they can be read. Trust is not checked.
public struct Inspection: Sendable {
    /// The verification report without trust and policy. Its faults say what is broken.
    public let report: VerificationReport
    /// Statistics of the depth map; nil if there is none or it could not be read to its end.
    public let depth: DepthStatistics?
    /// The payload entries according to their headers if the manifest is malformed. No signature covers them.
    public let unsignedEntries: [UnsignedEntry]
    /// The position; nil if the bundle has none or it is malformed.
    public let position: GeoPosition?

    /// A payload entry of which only the header is known.
    public struct UnsignedEntry: Hashable, Sendable {
        public let name: String
        public let size: Int
    }

    /// Reads a bundle once. Memory is constant, except that up to `DepthStatistics.medianLimit` samples are kept for
    /// the median.
    ///
    /// - Throws: An error only if the bytes cannot be read.
    public init(_ source: BundleSource) throws(BundleError) { try self.init(source, alsoFor: nil) }

    /// Reads a bundle, and also passes its bytes to another observer.
    init(_ source: BundleSource, alsoFor other: (any BundleObserver)?) throws(BundleError) {
        let observer = InspectionObserver(other)
        let verifier = Verifier(trust: TrustFile(), policy: VerificationPolicy(allowsWithheld: true))
        let reader = BundleReader(source)
        var report = try verifier.verify(reader, observer: observer)
        report.faults.removeAll { $0.code == .trustUnknown }
        report.checks.removeAll { $0.name == "trust" || $0.name == "policy" }
        var unsigned: [UnsignedEntry] = []
        let isManifestMalformed = report.faults.contains { $0.code.rawValue.hasPrefix("manifest.") }
        while isManifestMalformed, unsigned.count < BundleLimits.entries, let entry = reader.nextHeader() {
            do { try reader.readData { _ throws(BundleError) in } } catch { break }
            unsigned.append(UnsignedEntry(name: entry.name, size: entry.size))
        }
        unsignedEntries = unsigned
        report.bytes = reader.position
        self.report = report
        depth = observer.statistics
        position = observer.position
    }
}

/// Inflates the depth map during verification and collects its samples; also keeps the position.
private final class InspectionObserver: BundleObserver {
    private var size: DepthSize?
    private var reader: DepthMapReader?
    private var collector = DepthStatistics.Collector()
    private var location: [UInt8] = []
    private var current: EntryPath?
    private let other: (any BundleObserver)?

    init(_ other: (any BundleObserver)?) { self.other = other }

    func read(_ head: BundleReader.Head, _ manifest: Manifest) throws(BundleError) {
        size = manifest.depth?.size
        try other?.read(head, manifest)
    }

    func begin(_ entry: ManifestEntry) throws(BundleError) {
        try other?.begin(entry)
        current = entry.path
        if current == .depth, let size { reader = try DepthMapReader(size: size) }
    }

    func consume(_ piece: Span<UInt8>) throws(BundleError) {
        try other?.consume(piece)
        if current == .depth { try reader?.consume(piece) { collector.add($0) } }
        if current == .location { location.append(copying: piece) }
    }

    var statistics: DepthStatistics? {
        guard let reader, reader.fault == nil, reader.inflatedBytes == size?.byteCount else { return nil }
        return collector.finish()
    }

    var position: GeoPosition? { try? GeoPosition.decode(location) }
}
