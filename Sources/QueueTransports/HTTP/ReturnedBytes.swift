import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// Compares the bytes that a destination returns with the sent ones, and writes them to a file if there is one.
final class ReturnedBytes {
    enum Verdict {
        case same
        /// Other bytes. All of them, which may be the first of those that were sent; nil if they are more than were sent.
        case different(beginning: (byteCount: Int, sha256: Digest)?)
        /// A page answers in the place of the server, with this title as words for a message.
        case page(String)
        /// The bytes could not be read, for this reason.
        case unread(String)
    }

    private let byteCount: Int
    private let sha256: Digest
    private let target: FileHandle?
    private let hasher: SHA256Hasher
    private var count = 0
    private var head: [UInt8] = []
    private var fault: String?

    init(_ byteCount: Int?, _ sha256: Digest, into target: FileHandle? = nil) throws {
        (self.byteCount, self.sha256, self.target) = (byteCount ?? .max, sha256, target)
        hasher = try SHA256Hasher()
    }

    /// The sink for `HTTPRequest.sink`. It ends the transfer if more bytes come than were sent.
    func take(_ piece: Span<UInt8>) -> Bool {
        count += piece.count
        head.append(copying: piece.extracting(first: min(piece.count, 1024 - head.count)))
        guard count <= byteCount else { return false }
        do throws(NativeError) {
            try hasher.update(piece)
            try target?.write(piece)
            return true
        } catch {
            fault = "\(error.call): \(error.text)"
            return false
        }
    }

    /// - Parameter end: the end of the request that returned the bytes.
    func verdict(_ end: HTTPEnd) -> Verdict {
        if let fault { return .unread(fault) }
        // Only the bytes of 200 come here. The page of a portal may have any status of a success.
        let start = (201...299).contains(end.answer?.status ?? 0) ? end.answer?.body ?? [] : head
        if AnswerWords.isPage(start) { return .page(AnswerWords.title(start).map { " (\($0))" } ?? "") }
        if count > byteCount { return .different(beginning: nil) }
        guard let answer = end.answer, answer.status == 200, !answer.isCut else { return .unread(end.message) }
        guard let digest = (try? hasher.finish()).flatMap({ Digest(bytes: $0) }) else {
            return .unread("SHA-256 failed on this computer")
        }
        return digest == sha256 ? .same : .different(beginning: (count, digest))
    }

    /// Returns what is wrong with a download; nil if it is complete.
    func trouble(_ end: HTTPEnd) -> String? {
        switch verdict(end) {
        case .same: nil
        case .page(let title): "it returned a page\(title) and not the upload"
        case .different where count > byteCount: "it returned more than the expected \(byteCount) bytes"
        case .unread(let text) where fault != nil || end.answer?.status != 200: text
        case .unread: "it returned \(count) of \(byteCount) bytes"
        case .different where count < byteCount: "it returned \(count) of \(byteCount) bytes"
        case .different: "the bytes that it returned differ from those that were sent"
        }
    }
}
