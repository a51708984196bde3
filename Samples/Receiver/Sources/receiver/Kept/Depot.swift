import CaptureQueue
import Logging
import QueueModel
import QueueTransports

/// All that a receiver keeps, and the threads on which it is read and written.
struct Depot: Sendable {
    let folder: ReceiverFolder
    let queue: UploadQueue
    let index: CaptureIndex
    let devices: Devices
    /// Where several receivers find each other's captures; nil if this one shares no store.
    let sharedPhotos: S3Objects?
    let publicURL: PublicURL
    let threads: BlockingThreads
    let logger: Logger

    /// Ends the threads, and closes the databases, each of which is one file then.
    func close() async throws {
        await threads.stop()
        try index.close()
        queue.close()
    }
}

extension UploadQueue {
    /// The destinations to which new captures go.
    func namesOfDestinations() throws -> [String] { try destinations.list().filter { !$0.isRetired }.map(\.name) }
}
