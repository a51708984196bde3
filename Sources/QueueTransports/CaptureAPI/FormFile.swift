import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// A streamed form with one file.
final class FormFile: RequestBody {
    let contentType: String
    let byteCount: Int
    private let file: FileBody
    private let head: MemoryBody
    private let tail: MemoryBody

    init(_ photo: UploadFile, _ control: SendControl) throws(NativeError) {
        let boundary = "capqueue-" + Hex.encode(try RandomBytes.make(20))
        contentType = "multipart/form-data; boundary=\(boundary)"
        let line = "--" + boundary
        head = MemoryBody(
            Array(
                """
                \(line)\r\nContent-Disposition: form-data; name="file"; filename="capture.jpg"\r\n\
                Content-Type: image/jpeg\r\n\r\n
                """.utf8))
        tail = MemoryBody(Array("\r\n\(line)--\r\n".utf8))
        file = FileBody(photo.handle, byteCount: photo.byteCount, .sha256(photo.sha256), control)
        byteCount = head.byteCount + photo.byteCount + tail.byteCount
    }

    var isSent: Bool { tail.isSent && file.isSent }

    func rewind() -> Bool { head.rewind() && file.rewind() && tail.rewind() }

    func lend(_ limit: Int, to taker: (Span<UInt8>) -> Void) -> Bool {
        if !head.isSent { return head.lend(limit, to: taker) }
        if !file.isSent { return file.lend(limit, to: taker) }
        return tail.lend(limit, to: taker)
    }
}
