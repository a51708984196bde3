import CaptureNative

/// Checks the contents of an entry, once its bytes have matched their hash: rules D, E and L. Of the photo,
/// it only reads the header.
final class EntryContentCheck {
    struct Findings {
        var faults: [BundleError] = []
        var warnings: [BundleError] = []
        var metadata: CaptureMetadata?
        var depthSurvey: DepthSurvey?
        var location: GeoPosition?
        var photo: PhotoHeader?
    }

    private enum Content {
        case depth(DepthMapReader, expected: Digest)
        case metadata
        case location
        case photo
        /// An entry of which only the hash is checked.
        case opaque
    }

    private let content: Content
    private let entry: ManifestEntry
    private let manifest: Manifest
    private var gathered: [UInt8] = []
    private var survey: DepthSurvey?
    private var photo: JPEGWalk

    init(_ entry: ManifestEntry, _ manifest: Manifest, surveysDepth: Bool) throws(BundleError) {
        self.entry = entry
        self.manifest = manifest
        photo = JPEGWalk(size: entry.size, readsHeaderOnly: true)
        switch entry.path {
        case .depth:
            // A manifest that lists a depth map also describes it: rule M7.
            if let depth = manifest.depth {
                content = .depth(try DepthMapReader(size: depth.size), expected: depth.sha256)
                if surveysDepth { survey = DepthSurvey() }
            } else {
                content = .opaque
            }
        case .metadata: content = .metadata
        case .location: content = .location
        case .photo: content = .photo
        default: content = .opaque
        }
    }

    func consume(_ piece: Span<UInt8>) throws(BundleError) {
        switch content {
        case .depth(let reader, _):
            if survey == nil { try reader.consume(piece) } else { try reader.consume(piece) { survey?.add($0) } }
        case .metadata, .location:
            // The memory is bounded, because the manifest was refused if the size of either entry exceeds its limit.
            gathered.append(copying: piece)
        case .photo: try? photo.consume(piece)
        case .opaque: break
        }
    }

    func finish() throws(BundleError) -> Findings {
        var findings = Findings()
        switch content {
        case .depth(let reader, let expected):
            if let fault = try reader.finish(expected: expected) { findings.faults.append(fault) }
            findings.depthSurvey = survey
        case .metadata:
            MetadataCheck(manifest: manifest).run(gathered, &findings)
        case .location:
            do { findings.location = try GeoPosition.decode(gathered) } catch { findings.faults.append(error) }
        case .photo: findings.photo = photo.finishHeader()
        case .opaque: break
        }
        let path = entry.path.description
        findings.faults = findings.faults.map { BundleError($0.code, $0.message, entry: path) }
        findings.warnings = findings.warnings.map { BundleError($0.code, $0.message, entry: path) }
        return findings
    }
}
