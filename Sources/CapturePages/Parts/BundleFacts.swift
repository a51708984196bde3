public import CaptureBundle

/// What a page says of the facts in a bundle.
public struct BundleFacts: Sendable {
    private let report: VerificationReport
    private let statistics: DepthStatistics?

    /// - Parameter depth: The statistics of the depth map; nil if they may not be shown.
    public init(_ report: VerificationReport, depth: DepthStatistics?) {
        self.report = report
        statistics = depth
    }

    /// The mark for facts that no valid signature covers; empty if the signature is valid.
    public var claimed: String { report.isManifestGenuine ? "" : " (unproven claim)" }

    /// The kind of the key that signed; nil if the bundle does not say it.
    public var keyKind: String? {
        report.authenticatorData.map { $0.kind == .apple ? "an Apple key" : "a key on disk" }
    }

    public var model: HTML? { report.metadata.map { "\(foreign: $0.deviceModel)\(claimed)" } }

    public var keyID: HTML? { report.manifest.map { "<span class=\"mono\">\($0.device.keyID.description)</span>" } }

    /// The size and the range of the depth map.
    ///
    /// - Parameter absence: Why the range is not shown.
    public func depth(absence: HTML?) -> HTML {
        guard let size = report.manifest?.depth?.size else { return "none" }
        let samples: HTML = "\(size.width) × \(size.height) samples"
        if let absence { return "\(samples), \(absence)" }
        guard let found = statistics else { return samples }
        guard let nearest = found.minimum, let farthest = found.maximum else { return "\(samples), none measured" }
        let missing = Rounded.decimal(found.missingShare * 100, places: 1)
        return """
            \(samples), \(Rounded.metres(nearest)) to \(Rounded.metres(farthest)) m\
            \(found.missing == 0 ? "" : ", \(missing) % not measured")
            """
    }
}

/// The names and values of facts about one thing.
public struct FactList: Sendable {
    private var rows: [HTML] = []

    public init() {}

    public mutating func add(_ name: String, _ value: HTML) { rows.append("<dt>\(name)</dt><dd>\(value)</dd>\n") }

    public var html: HTML { "<dl class=\"facts\">\n\(rows)</dl>\n" }
}
