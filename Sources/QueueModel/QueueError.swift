package import CaptureNative
public import SystemPackage

/// The error type of the queue. Verdicts on a bundle are `BundleError`.
///
/// `code` is for programs (Spec/capqueue.md section 1). `message` is for people: what was found, in lower case, without
/// a full stop or SQL.
public struct QueueError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        package init(_ rawValue: String) { self.rawValue = rawValue }
    }

    /// Why an operation failed, where a caller decides by that. It is not an enum, because causes can be added.
    public struct Cause: Hashable, Sendable {
        public let rawValue: String

        package init(_ rawValue: String) { self.rawValue = rawValue }
    }

    public let code: Code
    public package(set) var cause: Cause?
    /// What the cause says more about, such as the name that was found, in the order that the cause states.
    public let values: [String]
    public let message: String
    /// The file, capture, session or destination that the error is about, as the user named it.
    public private(set) var subject: String?
    /// What `prune` could delete to make room, if that was looked up and there is something.
    public package(set) var prunable: Prunable?

    public init(
        _ code: Code, _ message: String, of subject: String? = nil, cause: Cause? = nil, values: [String] = []
    ) {
        self.code = code
        self.cause = cause
        self.values = values
        self.message = message
        self.subject = subject
    }

    /// Makes the same error for the file at a path.
    public init(
        _ code: Code, _ message: String, of path: FilePath, cause: Cause? = nil, values: [String] = []
    ) {
        self.init(code, message, of: path.string as String?, cause: cause, values: values)
    }

    /// The same error, about something if it is not yet about anything.
    package func about(_ subject: String?) -> QueueError {
        var error = self
        error.subject = self.subject ?? subject
        return error
    }

    public var description: String {
        [subject.map { $0.isEmpty ? "\"\"" : $0 }, message].compactMap(\.self).joined(separator: ": ")
    }
}

extension QueueError.Code {
    public static let busy = Self("queue.busy")
    public static let newer = Self("queue.newer")
    /// The queue was made by a tool from before the first release.
    public static let older = Self("queue.older")
    public static let missing = Self("queue.missing")
    public static let unusable = Self("queue.unusable")
    public static let openToOthers = Self("queue.open")
    public static let damaged = Self("queue.damaged")
    public static let inputOutput = Self("io.failed")
    public static let quota = Self("limit.quota")
    public static let freeDisk = Self("limit.disk")
    public static let encryption = Self("limit.encryption")
    public static let inputUnreadable = Self("input.unreadable")
    public static let idUnknown = Self("id.unknown")
    public static let idAmbiguous = Self("id.ambiguous")
    public static let idMalformed = Self("id.malformed")
    public static let stateRefused = Self("state.refused")
    public static let sessionUnknown = Self("session.unknown")
    public static let sessionEnded = Self("session.ended")
    public static let nameInvalid = Self("name.invalid")
    public static let valueInvalid = Self("value.invalid")
    public static let receiptMismatch = Self("receipt.mismatch")
    public static let bytesAbsent = Self("bytes.absent")
    public static let spoolDamaged = Self("spool.damaged")
    public static let spoolMissing = Self("spool.missing")
    public static let spoolStray = Self("spool.stray")
    public static let sourceChanged = Self("source.changed")
    public static let destinationUnknown = Self("destination.unknown")
    public static let destinationExists = Self("destination.exists")
    public static let destinationUsed = Self("destination.used")
    public static let destinationRetired = Self("destination.retired")
    public static let destinationSettings = Self("destination.settings")
    public static let corruptRecord = Self("queue.record")
}

extension QueueError.Cause {
    /// The disk is full, so that nothing was written.
    public static let diskFull = Self("disk.full")
    /// The disk is full: a push could not store, or a run could not store how a transfer would end.
    public static let noRoomToStore = Self("disk.full.store"), noRoomToSend = Self("disk.full.send")
    /// Only the blocks that the disk keeps for root are free.
    public static let keptForRoot = Self("disk.root")
    /// The database belongs to another program, or to another version.
    public static let foreign = Self("database.foreign"), otherVersion = Self("database.version")
    /// The database was replaced while a run was active.
    public static let replaced = Self("database.replaced")
    /// Nothing has to be salvaged, because the database is sound.
    public static let sound = Self("database.sound")
    /// A run of an older version is active.
    public static let oldRun = Self("run.older")
    /// A limit of the process refuses larger files. The value is the largest number of bytes.
    public static let fileSize = Self("limit.file")
    /// The file system cannot keep a queue. The values are `share`, `owner` and `map`, for what a mount option changes.
    public static let unfit = Self("folder.unfit")
    /// A folder of the queue is on a mount of its own.
    public static let apart = Self("folder.apart")
    /// The queue that is missing is the default one.
    public static let defaultQueue = Self("queue.default")
    /// Others can read a file with secrets. The value is `share` if it is on CIFS.
    public static let secret = Self("file.secret")
    /// Others can change a file.
    public static let writable = Self("file.writable")
    /// A file belongs to another user. The value is the user's name, if there is one.
    public static let otherOwner = Self("file.owner")
    /// The queue is a backup, or a log lies beside the database of a backup.
    public static let backup = Self("queue.backup"), backupLog = Self("backup.log")
    /// A raw capture, another folder, or a file was given in place of what was expected.
    public static let rawCapture = Self("input.raw"), folder = Self("input.folder"), file = Self("input.file")
    /// The bundle alone is larger than the limit.
    public static let largerThanLimit = Self("limit.bundle")
    /// What is uploaded would make enough room, but the queue may not delete it when it needs room.
    public static let evictable = Self("limit.evictable")
    /// The bytes of a capture are gone.
    public static let gone = Self("bytes.gone")
    /// A capture is not cancelled, or has several deliveries that are not completed.
    public static let notCancelled = Self("state.open"), ambiguous = Self("state.several")
    /// A destination has the name, and its settings can be changed, or only looked at.
    public static let changeable = Self("name.changeable"), used = Self("name.used")
    /// A destination had the name before. The value is its name now.
    public static let formerName = Self("name.former")
    /// A setting is missing. The values are what needs it, an example (may be empty), and the names of which one is needed.
    public static let missingSetting = Self("setting.missing")
    /// The key that was given signs bundles, not uploads.
    public static let otherKey = Self("setting.key")
    /// The URL lacks the hash, or shows a PIN.
    public static let sharedURL = Self("setting.url"), shownPIN = Self("setting.pin")
    /// The folder is not mounted, or is the one of another destination.
    public static let unmounted = Self("setting.unmounted"), otherFolder = Self("setting.folder")
}

extension QueueError {
    /// Whether a salvage can make the database again.
    public var isMendedBySalvage: Bool {
        [.damaged, .older, .corruptRecord].contains(code) && cause != .foreign && cause != .otherVersion
    }

    /// Whether the disk is full, so that nothing was written.
    public var isDiskFull: Bool {
        [.diskFull, .noRoomToStore, .noRoomToSend, .keptForRoot].contains(cause)
    }

    /// Makes the error for a failed call on a file of the queue.
    package static func file(_ path: FilePath, _ error: NativeError) -> QueueError { file(path.string, error) }

    package static func file(_ name: String, _ error: NativeError) -> QueueError {
        QueueError(
            .inputOutput, "\(error.call): \(error.text)", of: name, cause: error.isDiskFull ? .diskFull : nil)
    }

    /// Makes the error for a value in the database that no version of this tool writes.
    package static func corruptRecord(_ what: String) -> QueueError {
        QueueError(.corruptRecord, "the database is damaged: \(what)")
    }
}

/// Runs a system call on a file and converts its error to `QueueError`.
package func onFile<Value>(_ path: FilePath, _ body: () throws -> Value) throws(QueueError) -> Value {
    try onFile(named: path.string, body)
}

/// Does the same for a source that has a name but no path, such as the standard input.
package func onFile<Value>(named name: String, _ body: () throws -> Value) throws(QueueError) -> Value {
    do { return try body() } catch let error as NativeError {
        throw .file(name, error)
    } catch {
        throw error as? QueueError ?? QueueError(.inputOutput, "\(error)", of: name)
    }
}
