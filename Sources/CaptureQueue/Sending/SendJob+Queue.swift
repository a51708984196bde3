import QueueModel
import QueueTransports
import SystemPackage

extension SendJob {
    /// What is to be sent of a queue.
    init(_ capture: CaptureRecord, _ delivery: DeliveryRecord, token: [UInt8], now: Int, _ queue: UploadQueue) {
        let file =
            capture.holding == .reference
            ? FilePath(capture.reference ?? "") : queue.folder.bundlePath(capture.sha256)
        self.init(
            capture, delivery, token: token, now: now, file: file,
            isTwin: { remoteID, photo in
                // Where that cannot be read, it is sent once more rather than never.
                (try? queue.mayBeTwin(remoteID, of: capture, photo: photo)) ?? true
            }, keepBody: { body in try? queue.keep(body, of: capture) })
    }
}
