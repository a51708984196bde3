import CaptureBundle
package import CaptureNative
package import QueueModel

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
            if let digest = body.digest(isStopped: { false }) {
                return BodyHash(sha256: digest, candidate: layout.candidate)
            }
            guard body.isSpoilt else { return nil }
            candidate = layout.candidate + 1
        }
        return nil
    }
}
