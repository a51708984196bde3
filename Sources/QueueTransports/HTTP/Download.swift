import CaptureNative
import CurlClient
import QueueModel

/// Writes downloaded bytes to a file, at most as many as were sent.
final class Download {
    private let target: FileHandle
    private let limit: Int
    private var count = 0
    private var fault: String?

    init(_ target: FileHandle, limit: Int) {
        self.target = target
        self.limit = limit
    }

    func take(_ piece: Span<UInt8>) -> Bool {
        count += piece.count
        guard count <= limit else {
            fault = "it returned more than the expected \(limit) bytes"
            return false
        }
        do throws(NativeError) {
            try target.write(piece)
            return true
        } catch {
            fault = "\(error.call): \(error.text)"
            return false
        }
    }

    /// Returns what went wrong; nil if the download is complete.
    func trouble(_ end: HTTPEnd) -> String? {
        if let fault { return fault }
        guard end.answer?.status == 200 else { return end.message }
        return count == limit && end.answer?.isCut == false ? nil : "it returned \(count) of \(limit) bytes"
    }
}
