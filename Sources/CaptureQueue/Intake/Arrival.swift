import CaptureBundle
import CaptureNative
import QueueFiles
import QueueModel
import QueueTransports
import SystemPackage

/// A bundle that is verified and synced but has no name in the spool yet.
struct Arrival: Sendable {
    /// The user's own file.
    struct Source: Sendable {
        let path: FilePath
        /// The status of the file when it was opened.
        let status: FileStatus
    }

    let name: String
    let facts: CaptureFacts
    /// The copy of the bundle; nil for a reference.
    let file: AtomicFile?
    var trustFault: BundleError?
    var sidecar: (content: Sidecar, file: AtomicFile)?
    var order: PushOrder?
    /// What the queue knew that had the bundle before; nil if it is not adopted from a queue.
    var known: Sidecar?
    var source: Source?
    /// The tag of the file in the spool. `body` is the hash of the upload body, if a destination signs.
    var tag: BytesTag?
    var body: BodyHash?
    /// Hashed files of the spool with which the bundle is compared.
    var hashed: [SpoolReader.Hashed] = []
    var reference: String?
    /// Whether the spool has its sidecar and no row names it. It may have been sent.
    var isFound = false
    /// Whether there was room for the file before it was copied, so that it need not be checked again.
    var isReserved = false
    /// Remarks for the user about the intake.
    var notes: [String] = []
}
