import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// Hashes what a destination gives back and keeps none of it, to see whether it is what was sent.
final class ReadBack {
    enum Verdict {
        case same
        case different
        /// It could not be read, and why.
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

    /// For `HTTPRequest.sink`. More bytes than were sent end the transfer.
    func take(_ piece: Span<UInt8>) -> Bool {
        count += piece.count
        return count <= byteCount && (try? hasher.update(piece)) != nil
    }

    /// - Parameter end: how the request that returned the bytes ended.
    func verdict(_ end: HTTPEnd) -> Verdict {
        if count > byteCount { return .different }
        guard let answer = end.answer, answer.status == 200, !answer.isCut else { return .unread(end.message) }
        guard let digest = try? hasher.finish() else { return .unread("it cannot be hashed") }
        return Digest(bytes: digest) == sha256 ? .same : .different
    }
}
