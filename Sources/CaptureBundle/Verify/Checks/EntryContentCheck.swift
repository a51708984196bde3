import CaptureNative

/// Checks the contents of an entry, once its bytes have matched their hash: rules D, E and L. Of the photo,
/// it only reads the header.
final class EntryContentCheck {
    private let entry: ManifestEntry
    private let manifest: Manifest
    private let depth: DepthMapReader?
    private var survey: DepthSurvey?
    private var photo: JPEGWalk
    private var gathered: [UInt8] = []

    init(_ entry: ManifestEntry, _ manifest: Manifest, surveysDepth: Bool) throws(BundleError) {
        self.entry = entry
        self.manifest = manifest
        photo = JPEGWalk(size: entry.size, readsHeaderOnly: true)
        // A manifest that lists a depth map also describes it: rule M7.
        let size = entry.path == .depth ? manifest.depth?.size : nil
        depth = try size.map(DepthMapReader.init(size:))
        survey = size != nil && surveysDepth ? DepthSurvey() : nil
    }

    func consume(_ piece: Span<UInt8>) throws(BundleError) {
        switch entry.path {
        case .depth:
            if survey == nil { try depth?.consume(piece) } else { try depth?.consume(piece) { survey?.add($0) } }
        case .metadata, .location:
            // The memory is bounded, because the manifest was refused if the size of either entry exceeds its limit.
            gathered.append(copying: piece)
        case .photo: try? photo.consume(piece)
        default: break
        }
    }

    /// Records in the report what the entry contains, and its warnings. Returns the faults.
    func finish(_ report: inout VerificationReport) throws(BundleError) -> [BundleError] {
        var faults: [BundleError] = []
        switch entry.path {
        case .depth:
            if let depth, let described = manifest.depth, let fault = try depth.finish(expected: described.sha256) {
                faults.append(fault)
            }
            report.depthSurvey = survey
        case .metadata: faults = checkMetadata(&report)
        case .location: do { report.location = try GeoPosition.decode(gathered) } catch { faults.append(error) }
        case .photo: report.photo = photo.finishHeader()
        default: break
        }
        return faults.map { BundleError($0.code, $0.message, entry: entry.path.description) }
    }

    /// Rules E1 to E5.
    private func checkMetadata(_ report: inout VerificationReport) -> [BundleError] {
        var faults: [BundleError] = []
        do throws(BundleError) {
            let root = try CaptureMetadata.root(gathered)
            if root["location"] != nil {
                let message = "has a top-level member location; a position belongs in location.json"
                faults.append(BundleError(.metadataLocation, message))
            }
            report.warnings += CaptureMetadata.namesThatLookLikeAPosition(in: root).map {
                let message = "the member \($0) looks like a position"
                return BundleError(.metadataPosition, message, entry: entry.path.description)
            }
            let metadata = try CaptureMetadata(root)
            report.metadata = metadata
            let (time, signedTime) = (metadata.capturedAt, manifest.capturedAt)
            if time != signedTime {
                let message = "captured_at is \(time) in UTC, the manifest says \(signedTime)"
                faults.append(BundleError(.metadataCapturedAt, message))
            }
            let (said, signed) = (metadata.depthSize?.description, manifest.depth?.size.description)
            if said != signed {
                let found = said.map { "is \($0)" } ?? "is missing"
                let message = "depth_map_dimensions \(found), the manifest has \(signed ?? "no depth")"
                faults.append(BundleError(.metadataDimensions, message))
            }
        } catch { faults.append(error) }
        return faults
    }
}
