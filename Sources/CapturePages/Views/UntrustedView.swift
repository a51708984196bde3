public import CaptureBundle

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
