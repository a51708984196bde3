import CaptureNative

/// What is inside a bundle, as far as it can be read; trust is not asked.
public struct Inspection: Sendable {
    /// The verification without trust and policy; its faults say what is broken.
    public let report: VerificationReport
    /// nil when there is no depth map, or it could not be read to its end.
    public let depth: DepthStatistics?
    /// The payload by its headers, where the manifest is malformed; what they say is signed by nobody.
    public let unsignedEntries: [UnsignedEntry]
    /// nil when there is no position in the bundle, or it is malformed.
    public let position: GeoPosition?

    /// A payload entry that only its header vouches for.
    public struct UnsignedEntry: Hashable, Sendable {
        public let name: String
        public let size: Int
    }

    /// Reads a bundle once, in constant memory (`DepthStatistics.medianLimit` samples are held for the median).
    ///
    /// - Throws: only when the bytes cannot be read.
    public init(_ source: BundleSource) throws(BundleError) {
        let observer = InspectionObserver()
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

/// Inflates the depth map beside its verification and gathers its samples; keeps the position.
private final class InspectionObserver: BundleObserver {
    private var size: DepthSize?
    private var reader: DepthMapReader?
    private var collector = DepthStatistics.Collector()
    private var location: [UInt8] = []
    private var current: EntryPath?

    func read(_ head: BundleReader.Head, _ manifest: Manifest) throws(BundleError) { size = manifest.depth?.size }

    func begin(_ entry: ManifestEntry) throws(BundleError) {
        current = entry.path
        if current == .depth, let size { reader = try DepthMapReader(size: size) }
    }

    func consume(_ piece: Span<UInt8>) throws(BundleError) {
        if current == .depth { try reader?.consume(piece) { collector.add($0) } }
        if current == .location { location.append(copying: piece) }
    }

    var statistics: DepthStatistics? {
        guard let reader, reader.fault == nil, reader.inflatedBytes == size?.byteCount else { return nil }
        return collector.finish()
    }

    var position: GeoPosition? { try? GeoPosition.decode(location) }
}
