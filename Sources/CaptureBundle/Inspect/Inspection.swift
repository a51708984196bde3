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
        var depth: DepthObserver?
        var location: LocationObserver?
        let verifier = Verifier(trust: TrustFile(), policy: VerificationPolicy(allowsWithheld: true))
        let reader = BundleReader(source)
        var report = try verifier.verify(reader) { entry, manifest throws(BundleError) in
            switch entry.path {
            case .depth:
                depth = try manifest.depth.map { size throws(BundleError) in try DepthObserver(size.size) }
                return depth
            case .location:
                location = LocationObserver()
                return location
            default: return nil
            }
        }
        report.faults.removeAll { $0.code == .trustUnknown }
        report.checks.removeAll { $0.name == "trust" || $0.name == "policy" }
        var unsigned: [UnsignedEntry] = []
        let isManifestMalformed = report.faults.contains { $0.code.rawValue.hasPrefix("manifest.") }
        while isManifestMalformed, unsigned.count < BundleLimits.entries, let entry = reader.nextHeader() {
            unsigned.append(UnsignedEntry(name: entry.name, size: entry.size))
        }
        unsignedEntries = unsigned
        report.bytes = reader.position
        self.report = report
        self.depth = depth?.statistics
        position = location?.position
    }
}

/// Inflates the depth map beside its verification and gathers its samples.
private final class DepthObserver: PayloadObserver {
    private let reader: DepthMapReader
    private let size: DepthSize
    private var collector = DepthStatistics.Collector()

    init(_ size: DepthSize) throws(BundleError) {
        self.size = size
        reader = try DepthMapReader(size: size)
    }

    func consume(_ piece: Span<UInt8>) throws(BundleError) {
        try reader.consume(piece) { collector.add($0) }
    }

    var statistics: DepthStatistics? {
        reader.fault == nil && reader.inflatedBytes == size.byteCount ? collector.finish() : nil
    }
}

private final class LocationObserver: PayloadObserver {
    private var bytes: [UInt8] = []

    func consume(_ piece: Span<UInt8>) throws(BundleError) {
        for index in 0..<piece.count { bytes.append(piece[index]) }
    }

    var position: GeoPosition? { try? GeoPosition.decode(bytes) }
}
