import CaptureBundle
import CapturePages
import Hummingbird
import Logging
import PictureClient
import Synchronization
import SystemPackage

/// Reads stored captures for pages. All calls block, and are for the threads of `PageThreads`. They throw `OutOfReach`
/// if they need more than `reach` allows.
final class CaptureShelf: Sendable {
    let depot: Depot
    /// The authorities whose time stamps count.
    private let authorities: TrustFile
    private let large: BundlePictures
    private let small: BundlePictures
    /// The last bundles, the oldest first, by the hash, whether there is a time stamp, and the line of the device.
    private let checked = Mutex<[(name: String, bundle: CheckedBundle)]>([])

    init(_ depot: Depot, _ authorities: TrustFile) {
        self.depot = depot
        self.authorities = authorities
        let decoder = PictureDecoder(executable: CompanionFile.decoder)
        large = BundlePictures(.large, decoder: decoder)
        small = BundlePictures(.small, decoder: decoder)
    }

    /// Opens the bundle that a reader may download.
    ///
    /// - Returns: nil if no capture has this id, or the reader may not have its bundle.
    func download(_ id: String, _ reach: Reach, seesAll: Bool) throws -> ResponseBody? {
        try shown(id, reach, seesAll: seesAll) { shown, path in
            guard !seesAll else { return try ResponseBody(path, depot.threads) }
            guard shown.checked.refusal == nil else { return nil }
            guard reach != .known else { throw OutOfReach() }
            return try depot.withScratchFile { copy in
                try Self.write(path, shown.report, to: copy) == nil ? ResponseBody(copy, depot.threads) : nil
            }
        }
    }

    /// Calls `body` with a capture and the file of its bundle.
    ///
    /// - Returns: nil if no capture has this id.
    func shown<Value>(
        _ id: String, _ reach: Reach, seesAll: Bool, _ body: (ShownCapture, FilePath) throws -> Value?
    ) throws -> Value? {
        guard let row = try depot.index.capture(id) else { return nil }
        let device = try depot.devices.device(row.device)
        let stamp = authorities.authorities.isEmpty ? nil : try depot.index.stamp(of: id)
        return try depot.withFile(of: id, reach) { path, arrived in
            let hash = try RequestSignature.hash(BundleSource(file: path))
            let shown = ShownCapture(
                row: row, device: device, checked: try check(path, hash, stamp, device, reach),
                isAsItArrived: hash == arrived, seesAll: seesAll, publicURL: depot.publicURL)
            return try body(shown, path)
        }
    }

    /// Verifies a bundle, unless the same bytes were verified for the same device before.
    private func check(
        _ path: FilePath, _ hash: Digest, _ stamp: TimeStamp?, _ device: RegisteredDevice?, _ reach: Reach
    ) throws -> CheckedBundle {
        let name = "\(hash) \(stamp != nil) \(device?.currentLine.text ?? "")"
        if let known = checked.withLock({ $0.first { $0.name == name } }) { return known.bundle }
        guard reach != .known else { throw OutOfReach() }
        var trust = try device?.trust() ?? TrustFile()
        trust.append(authorities)
        let verifier = Verifier(trust: trust, policy: VerificationPolicy(allowsWithheld: true))
        let view = try verifier.view(BundleSource(file: path), stamp: stamp)
        let pictures = large.pictures(of: view)
        if let reason = pictures.reason { depot.logger.warning("capture \(path.lastComponent?.stem ?? ""): \(reason)") }
        let refusal = try depot.withScratchFile { try Self.write(path, view.report, to: $0) }
        let thumbnails = small.pictures(of: view)
        let found = CheckedBundle(
            report: view.report, photo: PagePicture(pictures.photo), depth: PagePicture(pictures.depth),
            thumbnail: PagePicture(thumbnails.photo ?? thumbnails.depth), depthSpan: pictures.depthSpan,
            depthStatistics: view.depthStatistics, position: view.position, lacksPicture: pictures.reason != nil,
            refusal: refusal)
        checked.withLock { checked in
            checked.removeAll { $0.name == name }
            checked.append((name, found))
            while checked.reduce(0, { $0 + $1.bundle.bytes }) > 32 << 20 { checked.removeFirst() }
        }
        return found
    }
}
