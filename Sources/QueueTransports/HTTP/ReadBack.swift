import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// Hashes the bytes that a destination returns, without storing them, to compare them with the sent ones.
final class ReadBack {
    enum Verdict {
        case same
        case different
        /// The bytes could not be read, for this reason.
        case unread(String)
    }

    private let byteCount: Int
    private let sha256: Digest
    private let hasher: SHA256Hasher
    private var count = 0

    init(byteCount: Int, sha256: Digest) throws(NativeError) {
        self.byteCount = byteCount
        self.sha256 = sha256
        hasher = try SHA256Hasher()
    }

    /// The sink for `HTTPRequest.sink`. It ends the transfer if more bytes come than were sent.
    func take(_ piece: Span<UInt8>) -> Bool {
        count += piece.count
        return count <= byteCount && (try? hasher.update(piece)) != nil
    }

    /// - Parameter end: the end of the request that returned the bytes.
    func verdict(_ end: HTTPEnd) -> Verdict {
        if count > byteCount { return .different }
        guard let answer = end.answer, answer.status == 200, !answer.isCut else { return .unread(end.message) }
        guard let digest = try? hasher.finish() else { return .unread("SHA-256 failed on this computer") }
        return Digest(bytes: digest) == sha256 ? .same : .different
    }
}
