import CaptureNative

/// Packs raw captures into signed bundles.
///
/// ```swift
/// let packer = Packer(key: DeviceKeyFile(path: DeviceKeyFile.usualPath))
/// let packed = try packer.pack("raw", to: .file("cap.bundle"))
/// print(packed.id)
/// ```
public struct Packer: Sendable {
    /// Where a bundle goes.
    public enum Output: Sendable {
        /// Appears whole or not at all; something that is there already is refused.
        case file(String)
        /// Appears whole or not at all, in place of what is there.
        case replacing(String)
        case standardOutput

        var name: String {
            switch self {
            case .file(let path), .replacing(let path): path
            case .standardOutput: "standard output"
            }
        }
    }

    /// What was packed.
    public struct Packed: Sendable {
        public let manifest: Manifest
        /// SHA-256 of `manifest.json`.
        public let manifestSHA256: Digest
        /// nil for a dry run, which signs nothing.
        public let counter: UInt32?
        /// Length of the bundle in bytes; for a dry run with an assertion of the usual 141 bytes.
        public let byteCount: Int
        public let remarks: [Remark]

        public var id: String { manifest.id }
    }

    private let key: DeviceKeyFile
    private let passphrase: [UInt8]?

    public init(key: DeviceKeyFile, passphrase: [UInt8]? = nil) {
        self.key = key
        self.passphrase = passphrase
    }

    /// Reads, signs and writes one capture. The order matters: everything that can be refused is looked at before the
    /// counter is taken, the counter is on disk before the signature is made, the bytes before their name.
    ///
    /// - Parameter onRemark: told of each remark before anything is signed or written.
    /// - Throws: `raw.capture`, `input.unreadable`, `output.exists`, `output.unusable`, `io.failed`, and those of
    ///   `DeviceKeyFile`.
    public func pack(
        _ folder: String, to output: Output, options: RawCaptureOptions = RawCaptureOptions(), isDryRun: Bool = false,
        onRemark: (Remark) -> Void = { _ in }
    ) throws(BundleError) -> Packed {
        let capture = try RawCaptureReader.read(folder, options)
        try Self.examine(output)
        let device = try key.load(passphrase: passphrase)
        let plan = try BundlePlan(capture, device: device.point, secret: key.saltSecret(for: device))
        var remarks = capture.remarks
        if let depth = plan.manifest.entry(.depth), depth.size > UploadAdvice.depthBytes {
            let file = FilePath.join(folder, "depth.f32")
            remarks.append(
                Remark(
                    weight: .warning, file: file,
                    message: "has \(depth.size) bytes compressed; servers refuse more than \(UploadAdvice.depthBytes)"))
        }
        remarks.forEach(onRemark)
        func packed(counter: UInt32?, assertion: Int) throws(BundleError) -> Packed {
            Packed(
                manifest: plan.manifest, manifestSHA256: try Digest.of(plan.manifestBytes), counter: counter,
                byteCount: plan.byteCount(assertion: assertion), remarks: remarks)
        }
        if isDryRun { return try packed(counter: nil, assertion: 141) }
        let target = try Self.open(output)
        let counter = try key.reserveCounters(1, for: device)
        let assertion = try Assertion(signing: plan.manifestBytes, key: device.key, counter: counter).encode()
        try plan.write(assertion: assertion, to: target.handle, name: output.name)
        try target.commit()
        return try packed(counter: counter, assertion: assertion.count)
    }

    /// Refuses a target that cannot take the bundle, before anything is signed.
    private static func examine(_ output: Output) throws(BundleError) {
        switch output {
        case .standardOutput: return
        case .file(let path):
            try refuseFolder(path)
            guard !FileStatus.exists(path) else { throw .exists(path) }
            try examineFolder(of: path)
        case .replacing(let path):
            try refuseFolder(path)
            if let status = try? FileStatus.of(path), status.kind != .file {
                throw BundleError(.outputUnusable, "is there and no plain file, so it is not replaced", file: path)
            }
            try examineFolder(of: path)
        }
    }

    private static func refuseFolder(_ path: String) throws(BundleError) {
        let isFolder = (try? FileStatus.of(path))?.kind == .folder
        guard !isFolder, !FilePath.name(of: path).isEmpty else {
            throw BundleError(.outputUnusable, "is a folder, expected the name of a file", file: path)
        }
    }

    private static func examineFolder(of path: String) throws(BundleError) {
        let length = FilePath.name(of: path).utf8.count
        guard length <= FilePath.nameLimit else {
            throw BundleError(
                .outputUnusable, "the name has \(length) bytes, at most \(FilePath.nameLimit) are allowed", file: path)
        }
        let folder = FilePath.folder(of: path)
        do {
            try ProcessEnvironment.canWrite(folder: folder)
        } catch {
            throw BundleError(.outputUnusable, "the folder \(folder) cannot be written to: \(error.text)", file: path)
        }
    }

    private struct Target {
        let handle: FileHandle
        let commit: () throws(BundleError) -> Void
    }

    private static func open(_ output: Output) throws(BundleError) -> Target {
        let existing: AtomicFile.Existing
        let path: String
        switch output {
        case .standardOutput: return Target(handle: .standardOutput, commit: { () throws(BundleError) in })
        case .file(let name): (path, existing) = (name, .refuse)
        case .replacing(let name): (path, existing) = (name, .replace)
        }
        do {
            let file = try AtomicFile(path: path, mode: 0o666)
            return Target(handle: file.handle) { () throws(BundleError) in
                do throws(NativeError) { try file.commit(existing) } catch { throw .writing(path, error) }
            }
        } catch {
            throw .writing(path, error)
        }
    }
}
