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
        let targets = try key.chainTargets()
        let again = body != nil && output.exists ? output.path : nil
        try OutputPlace.examine(places, reading: try? FileStatus.of(raw)) { place in
            // An earlier run of this command may have made some of the files before it was interrupted.
            let isForLink = isChained && place == output
            try key.examine(place, targets, isForLink: isForLink, mayExist: again != nil && !isForLink)
        }
        let device = try key.load(passphrase)
        let plan = try BundlePlan(
            capture, device: device.point, secret: key.saltSecret(for: device), remarks: remarks)
        plan.remarks.forEach(onRemark)
        if !isChained, let remark = try key.unlinkedRemark(for: device) { onRemark(remark) }
        if isDryRun {
            if let again, !isChained { return try PackedCapture(plan, at: again).result(counter: nil) }
            var end = isChained ? try key.chainEnd(for: device) : nil
            return try tryOut(plan, at: output, targets, after: &end).get()
        }
        if isChained {
            var told: [Remark] = []
            let packing = ChainPacking(key: key, device: device, places: [output])
            var packed = try native {
                try packing.pack(plan, to: output, body: body) {
                    told.append($0)
                    onRemark($0)
                }
            }
            packed.remarks = told + packed.remarks
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
    func tryOut(
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
