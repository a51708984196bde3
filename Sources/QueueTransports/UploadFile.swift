package import CaptureBundle
package import CaptureNative
package import QueueModel

/// What is sent: a bundle, or a file without a name that is made from one: an upload body, or the photo alone.
package struct UploadFile: Sendable {
    package let handle: FileHandle
    package let byteCount: Int
    package let sha256: Digest
    /// How to check the bytes while they are sent.
    package let expected: ExpectedBytes
    package let contentType: String

    /// Writes the body of an upload (Spec/upload.md section 1) and hashes it.
    ///
    /// - Parameters:
    ///   - bundle: The bundle. It is read from its start, once for each boundary that is tried.
    ///   - expected: The hash of the whole bundle; other bytes are refused.
    /// - Throws: `entry.sha256` if the hash differs, and the errors of `MultipartBody.write`.
    package static func body(
        of bundle: FileHandle, sha256 expected: Digest, name: String
    ) throws(BundleError) -> UploadFile {
        let (body, target) = try SeekableBundle(bundle, name: name).body(sha256: expected) {
            try HashingTarget(isKept: true)
        }
        return try target.part(contentType: body.contentType)
    }

    /// Extracts the photo from a bundle, after the whole bundle was found to be sound.
    ///
    /// - Throws: `entry.absent` if it has no photo, and the errors of `body`.
    package static func photo(
        of bundle: FileHandle, sha256 expected: Digest, name: String
    ) throws(BundleError) -> UploadFile {
        let observer = PhotoObserver(try HashingTarget(isKept: true))
        try SeekableBundle(bundle, name: name).verify(sha256: expected, observer)
        guard observer.isFound else { throw BundleError(.entryAbsent, "the bundle has no photo.jpg", file: name) }
        return try observer.target.part(contentType: "image/jpeg")
    }
}

/// Hashes the body in which a bundle will be sent, in the same pass that verifies the bundle.
package struct BodyHashing {
    private let target: HashingTarget
    private let layout: BodyLayout
    private let body: BodyWriter
    package var observer: any BundleObserver { body }

    /// - Parameter bundle: A regular file. Its metadata is read, because the body begins with it; then it is at its start.
    package init(_ bundle: FileHandle, name: String) throws(BundleError) {
        // Also if no body can be made, so that the bundle is verified from its start.
        defer { try? bundle.seekToStart() }
        target = try HashingTarget(isKept: false)
        layout = try BodyLayout.of(bundle, name: name)
        body = BodyWriter(layout, target)
    }

    /// The hash of the body; nil if it needs another boundary.
    package func finish() throws(BundleError) -> BodyHash? {
        guard try body.finish() else { return nil }
        return BodyHash(sha256: try target.hash.finish(), candidate: layout.candidate)
    }
}

/// A target that hashes the bytes that it receives, and keeps them in a file without a name if they are needed.
private final class HashingTarget: BodyTarget {
    let hash: DigestStream
    private let target: OutputTarget?
    private var count = 0

    init(isKept: Bool) throws(BundleError) {
        hash = try DigestStream()
        target = isKept ? try OutputTarget(.standardOutput, holdsBack: true) : nil
    }

    func write(_ bytes: Span<UInt8>) throws(BundleError) {
        try hash.update(bytes)
        count += bytes.count
        try target?.write(bytes)
    }

    func part(contentType: String) throws(BundleError) -> UploadFile {
        guard let handle = try target?.held() else { throw BundleError(.internalFailure, "a body was not kept") }
        let sha256 = try hash.finish()
        return UploadFile(
            handle: handle, byteCount: count, sha256: sha256, expected: .sha256(sha256), contentType: contentType)
    }
}

private final class PhotoObserver: BundleObserver {
    let target: HashingTarget
    private(set) var isFound = false
    private var isInPhoto = false

    init(_ target: HashingTarget) { self.target = target }

    func read(_ head: BundleReader.Head, _ manifest: Manifest) {}

    func begin(_ entry: ManifestEntry) {
        isInPhoto = entry.path == .photo
        isFound = isFound || isInPhoto
    }

    func consume(_ piece: Span<UInt8>) throws(BundleError) {
        if isInPhoto { try target.write(piece) }
    }
}

extension BodyHash {
    /// Reads a bundle and hashes the upload body made from it.
    ///
    /// - Parameters:
    ///   - byteCount: the size of the bundle.
    ///   - expected: how to check the bytes of the bundle.
    /// - Returns: nil if the bytes are not the expected ones, or if no body can be made from them.
    package static func of(
        _ bundle: FileHandle, name: String, byteCount: Int, _ expected: ExpectedBytes
    ) -> BodyHash? {
        var candidate = 0
        while let layout = try? BodyLayout.of(bundle, name: name, from: candidate) {
            let body = FileBody(bundle, layout, of: (byteCount, expected), SendControl())
            if let digest = body.digest() {
                return BodyHash(sha256: digest, candidate: layout.candidate)
            }
            guard body.isSpoilt else { return nil }
            candidate = layout.candidate + 1
        }
        return nil
    }
}
