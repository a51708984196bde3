public import CaptureBundle
import CaptureNative
package import SystemPackage

/// Packs raw captures into signed bundles. CaptureImport reads them from the files of cameras and apps.
public struct Packer: Sendable {
    /// The result of packing a capture.
    public struct Packed: Sendable {
        public let manifest: Manifest
        public let manifestSHA256: Digest
        /// The counter of the signature; nil for a dry run, which signs nothing.
        public let counter: UInt32?
        /// The length of the bundle in bytes. A dry run assumes an assertion of the usual 141 bytes.
        public let byteCount: Int
        /// The upload body, if it was requested.
        public internal(set) var body: MultipartBody?
        /// The layout of RAW, such as `capbundle` or `3d-scanner-app`.
        public let layout: String
        /// The app's number or name of the frame; nil if RAW is a single capture.
        public let frame: String?
        public internal(set) var remarks: [Remark]
        /// Whether an earlier run made the bundle with its link. The capture got no other link then.
        public internal(set) var wasPackedBefore = false

        public var id: String { manifest.id }
    }

    /// The places for the upload body of a bundle and for the line with its `Content-Type`.
    public struct BodyPlaces: Sendable {
        public var body: OutputPlace
        public var headers: OutputPlace?

        public init(body: OutputPlace, headers: OutputPlace? = nil) {
            self.body = body
            self.headers = headers
        }
    }

    let key: DeviceKeyFile
    let passphrase: Passphrase
    let isChained: Bool

    /// - Parameters:
    ///   - passphrase: Used only if the key is encrypted.
    ///   - isChained: Whether each bundle is linked to the one that the key chained before it.
    public init(key: DeviceKeyFile, passphrase: Passphrase = .none, isChained: Bool = false) {
        self.key = key
        self.passphrase = passphrase
        self.isChained = isChained
    }

    /// Signs and writes one capture. The order matters: everything that can be refused is checked before the counter is
    /// reserved, the counter is on disk before the signature is made, and the bytes are on disk before they get their
    /// name.
    ///
    /// - Parameters:
    ///   - raw: The folder or file from which the capture comes; no output may be inside it.
    ///   - remarks: Remarks about `raw` as a whole.
    ///   - body: The place for the upload body; nil makes no body.
    ///   - onRemark: Receives each remark about the capture before anything is signed or written, and remarks about
    ///     links of the chain that an earlier run left pending.
    /// - Throws: `output.exists`, `output.unusable`, `io.failed`, and the errors of `DeviceKeyFile`.
    package func pack(
        _ capture: RawCapture, from raw: FilePath, remarks: [Remark] = [], to output: OutputPlace,
        body: BodyPlaces? = nil, isDryRun: Bool = false, onRemark: (Remark) -> Void = { _ in }
    ) throws(BundleError) -> Packed {
        let places = [output, body?.body, body?.headers].compactMap(\.self)
        for place in places { try place.refuse(inside: raw) }
        try key.locate(passphrase)
        for place in places { try place.refuse(inputs: key.files) }
        let targets = try key.chainTargets()
        let again = body != nil && output.exists ? output.path : nil
        try OutputPlace.examine(places, reading: try? FileStatus.of(raw)) { place in
            // An earlier run of this command may have made some of the files before it was interrupted.
            let isForLink = isChained && place == output
            try key.examine(place, targets, isForLink: isForLink, mayExist: again != nil && !isForLink)
        }
        let device = try key.load(passphrase)
        let unlinked = isChained ? nil : try key.unlinkedRemark(for: device)
        let plan = try BundlePlan(
            capture, device: device.point, secret: key.saltSecret(for: device),
            remarks: remarks + [unlinked].compactMap(\.self))
        plan.remarks.forEach(onRemark)
        if isDryRun {
            if let again, !isChained { return try PackedCapture(plan, at: again).result(counter: nil) }
            var end = isChained ? try key.chainEnd(for: device) : nil
            return try rehearse(plan, at: output, targets, after: &end).get()
        }
        if isChained {
            var reported: [Remark] = []
            let packing = ChainPacking(key: key, device: device, places: [output])
            var packed = try native {
                try packing.pack(plan, to: output, body: body) {
                    reported.append($0)
                    onRemark($0)
                }
            }
            packed.remarks = reported + packed.remarks
            return packed
        }
        if let again { return try finish(PackedCapture(plan, at: again), body) }
        let target = try OutputTarget(output)
        let counter = try key.reserveCounters(1, for: device)
        return try plan.sign(device, counter: counter, to: target, body: body)
    }

    /// What a capture would become. Nothing is signed or written.
    ///
    /// - Parameter end: The end of the chain, which the capture moves; nil for a bundle without a link.
    func rehearse(
        _ plan: BundlePlan, at output: OutputPlace, _ targets: ChainTargets, after end: inout ChainRecord.End?
    ) -> Result<Packed, BundleError> {
        Result { () throws(BundleError) in
            guard let last = end else { return try plan.packed(counter: nil, assertion: 141, body: nil) }
            if let before = try targets.packed(plan, at: output) { return try before.result(counter: nil) }
            let link = try key.link(after: last)
            let linked = try plan.linked(link)
            end = ChainRecord.End(seq: link.seq, manifest: try Digest.of(linked.manifestBytes))
            return try linked.packed(counter: nil, assertion: 141, body: nil)
        }
    }

    /// Makes the upload body of a bundle that exists.
    private func finish(_ packed: PackedCapture, _ places: BodyPlaces?) throws(BundleError) -> Packed {
        let made = try packed.plan.makeBody(assertion: packed.assertion, places)
        try made?.commit(isAgain: true)
        var result = try packed.result(counter: packed.counter)
        result.body = made?.body
        return result
    }
}

extension DeviceKeyFile {
    /// Recognises the bundles of the key's chain. The private key is not read; one in hardware was located before.
    func chainTargets() throws(BundleError) -> ChainTargets {
        guard FileStatus.exists(statePath) else { return ChainTargets(nil) }
        // A damaged state is reported when the counter is taken.
        return ChainTargets(try DeviceKeyState.decode(readPrivate(statePath)))
    }

    /// Examines a place as `targets` does, and looks again if a file is there: another run may have given its bundle this
    /// name, and begun the chain, since `targets` was read.
    func examine(
        _ place: OutputPlace, _ targets: ChainTargets, isForLink: Bool, mayExist: Bool = false
    ) throws(BundleError) {
        do {
            try targets.examine(place, isForLink: isForLink, mayExist: mayExist)
        } catch {
            guard isForLink, error.code == .outputExists else { throw error }
            try chainTargets().examine(place, isForLink: true, mayExist: mayExist)
        }
    }
}

/// A file with complete bytes but without a name. Several files of one folder are committed together, so that the run
/// waits for the disk only a few times and not once for each file.
struct FinishedFile: Sendable {
    let name: String
    let file: AtomicFile
    let naming: AtomicFile.Naming

    /// - Parameter folder: The folder that contains `place`.
    init(_ place: OutputPlace, in folder: FolderHandle) throws(BundleError) {
        guard let name = place.path?.name else {
            throw BundleError(.outputUnusable, "is not a file name", file: place.name)
        }
        self.name = place.name
        do { file = try AtomicFile(name, in: folder, mode: 0o666) } catch { throw .writing(place.name, error) }
        if case .replacing = place { naming = file.naming(.replace) } else { naming = file.naming(.refuse) }
    }
}

/// A capture whose bundle exists already, because an earlier run of the same command made it.
struct PackedCapture {
    /// The plan, with the link of the bundle if it has one.
    let plan: BundlePlan
    let counter: UInt32
    let assertion: [UInt8]

    /// - Parameter counter: nil for a dry run.
    func result(counter: UInt32?) throws(BundleError) -> Packer.Packed {
        var packed = try plan.packed(counter: counter, assertion: assertion.count, body: nil)
        packed.wasPackedBefore = true
        return packed
    }
}

extension PackedCapture {
    /// The bundle at a path, if it is a whole and sound one with exactly this manifest.
    ///
    /// - Throws: `output.exists` for any other file; the errors of reading it.
    init(_ plan: BundlePlan, at path: FilePath) throws(BundleError) {
        let report = try Verifier.soundness.verify(BundleSource(file: path))
        guard report.isSound, report.withheld.isEmpty, let counter = report.authenticatorData?.counter,
            try report.manifestSHA256 == Digest.of(plan.manifestBytes)
        else { throw .exists(path) }
        let assertion = try BundleReader(BundleSource(file: path)).readHead().assertion
        self.init(plan: plan, counter: counter, assertion: assertion)
    }
}
