package import CaptureNative

/// A file without a name that is sent in place of a bundle: an upload body, or the photo alone.
package struct UploadFile: Sendable {
    package let handle: FileHandle
    package let byteCount: Int
    package let sha256: Digest
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
        let seekable = SeekableBundle(bundle, name: name)
        for n in 0..<MultipartBoundary.candidates {
            let target = try HashingTarget()
            let observer = BodyObserver(name, target, n: n, unsigned: try seekable.metadataEntries())
            try verify(try seekable.stream(), expected, observer, name)
            guard let body = try observer.finish() else { continue }
            return try target.part(contentType: body.contentType)
        }
        throw MultipartBody.noBoundary(name)
    }

    /// Extracts the photo from a bundle, after the whole bundle was found to be sound.
    ///
    /// - Throws: `entry.absent` if it has no photo, and the errors of `body`.
    package static func photo(
        of bundle: FileHandle, sha256 expected: Digest, name: String
    ) throws(BundleError) -> UploadFile {
        let observer = PhotoObserver(try HashingTarget())
        try verify(try SeekableBundle(bundle, name: name).stream(), expected, observer, name)
        guard observer.isFound else { throw BundleError(.entryAbsent, "the bundle has no photo.jpg", file: name) }
        return try observer.target.part(contentType: "image/jpeg")
    }

    private static func verify(
        _ source: HandleStream, _ expected: Digest, _ observer: any BundleObserver, _ name: String
    ) throws(BundleError) {
        let hash = try DigestStream()
        let tee = CopyingStream(source) { piece throws(BundleError) in try hash.update(piece) }
        let report = try Verifier.soundness.verify(
            BundleReader(BundleSource(stream: tee, name: name)), observer: observer)
        try report.requireSound(name)
        guard try hash.finish() == expected else {
            throw BundleError(.entrySHA256, "the bytes changed since they were pushed", file: name)
        }
    }
}

/// Hashes the body in which a bundle will be sent, in the same pass that verifies the bundle.
package struct BodyHashing {
    private let hash: DigestStream
    private let body: BodyObserver
    package var observer: any BundleObserver { body }

    /// - Parameter bundle: A regular file. Its metadata is read, because the body begins with it; then it is at its start.
    package init(_ bundle: FileHandle, name: String) throws(BundleError) {
        let seekable = SeekableBundle(bundle, name: name)
        hash = try DigestStream()
        body = BodyObserver(name, HashTarget(hash: hash), n: 0, unsigned: try seekable.metadataEntries())
        _ = try seekable.source()
    }

    /// The hash of the body with the first boundary; nil if the body needs another boundary.
    package func finish() throws(BundleError) -> Digest? {
        guard try body.finish() != nil else { return nil }
        return try hash.finish()
    }

    private struct HashTarget: BodyTarget {
        let hash: DigestStream

        func write(_ bytes: Span<UInt8>) throws(BundleError) { try hash.update(bytes) }
    }
}

/// A target that hashes the bytes that it receives.
private final class HashingTarget: BodyTarget {
    private let target: OutputTarget
    private let hash: DigestStream
    private var count = 0

    init() throws(BundleError) {
        target = try OutputTarget(.standardOutput, holdsBack: true)
        hash = try DigestStream()
    }

    func write(_ bytes: Span<UInt8>) throws(BundleError) {
        try hash.update(bytes)
        count += bytes.count
        try target.write(bytes)
    }

    func part(contentType: String) throws(BundleError) -> UploadFile {
        UploadFile(
            handle: try target.held(), byteCount: count, sha256: try hash.finish(), contentType: contentType)
    }
}

/// An observer that keeps the photo.
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
