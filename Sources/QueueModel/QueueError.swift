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
    public let cause: Cause?
    /// What the cause says more about, such as the name that was found, in the order that the cause states.
    public let values: [String]
    public let message: String
    /// The file, capture, session or destination that the error is about, as the user named it.
    public private(set) var subject: String?
    /// What the user can do about it.
    public let hints: [QueueHint]
    /// Whether the disk is full, so that nothing was written.
    public package(set) var isDiskFull = false

    public init(
        _ code: Code, _ message: String, of subject: String? = nil, cause: Cause? = nil, values: [String] = [],
        hints: [QueueHint] = []
    ) {
        self.code = code
        self.cause = cause
        self.values = values
        self.message = message
        self.subject = subject
        self.hints = hints
    }

    /// Makes the same error for the file at a path.
    public init(
        _ code: Code, _ message: String, of path: FilePath, cause: Cause? = nil, values: [String] = [],
        hints: [QueueHint] = []
    ) {
        self.init(code, message, of: path.string as String?, cause: cause, values: values, hints: hints)
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

extension QueueError {
    /// Makes the error for a failed call on a file of the queue.
    package static func file(_ path: FilePath, _ error: NativeError) -> QueueError { file(path.string, error) }

    package static func file(_ name: String, _ error: NativeError) -> QueueError {
        var failure = QueueError(.inputOutput, "\(error.call): \(error.text)", of: name)
        failure.isDiskFull = error.isDiskFull
        return failure
    }

    /// Makes the error for a value in the database that no version of this tool writes.
    package static func corruptRecord(_ what: String) -> QueueError {
        QueueError(.corruptRecord, "the database is damaged: \(what)", hints: [.salvage])
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
