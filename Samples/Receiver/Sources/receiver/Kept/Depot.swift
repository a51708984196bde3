import CaptureQueue
import Logging
import QueueModel

/// All that a receiver keeps, and the threads on which it is read and written.
struct Depot: Sendable {
    let folder: ReceiverFolder
    let queue: UploadQueue
    let index: CaptureIndex
    let devices: Devices
    let publicURL: PublicURL
    let threads: BlockingThreads
    let logger: Logger
}

extension UploadQueue {
    /// The destinations to which new captures go.
    func namesOfDestinations() throws -> [String] { try destinations.list().filter { !$0.isRetired }.map(\.name) }
}
