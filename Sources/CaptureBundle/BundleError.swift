package import CaptureNative
public import SystemPackage

/// The only error type of this library, and also a finding of a verification.
///
/// `code` and `hints` are for programs. `message` is for people: in lower case and without a full stop, it says what was
/// found and what was expected. A verification that finds faults does not throw; it returns them as values of this type in its
/// report.
public struct BundleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A dotted word. The codes of Spec/capture-bundle.md are rules of the format; Spec/command-line.md lists the
    /// others. It is not an enum, because codes can be added.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        init(_ rawValue: String) { self.rawValue = rawValue }

        /// The word before the first dot: the part of the format, or the kind of failure.
        var part: String { rawValue.pieces(by: ".", limit: 2).first ?? rawValue }
    }

    /// Why an operation failed, where a caller decides by that. It is not an enum, because causes can be added.
    public struct Cause: Hashable, Sendable {
        public let rawValue: String

        package init(_ rawValue: String) { self.rawValue = rawValue }

        /// A file could not be written because the disk or the user's quota is full.
        public static let diskFull = Cause("disk.full")
        /// metadata.json has no time or no model, nor a member with a similar name.
        public static let noTime = Cause("time.missing")
        public static let noModel = Cause("model.missing")
    }

    public let code: Code
    public package(set) var cause: Cause?
    /// What the cause says more about, such as the name that was found, in the order that the cause states.
    public package(set) var values: [String]
    /// The message, in which a caller can put its own names for settings.
    public let wording: Wording
    /// The file to which the error belongs, as the user named it; nil for a finding in a bundle.
    public private(set) var file: String?
    public let entry: String?
    /// What can be done about it.
    public private(set) var hints: [Hint]
    /// Other faults that were found in the same raw folder, so that all can be mended at once.
    public internal(set) var further: [BundleError] = []

    /// The maximum length of a message in bytes, since it may quote a hostile file.
    private static let longestMessage = 1000

    public init(
        _ code: Code, wording: Wording, file: String? = nil, entry: String? = nil, cause: Cause? = nil,
        values: [String] = [], hints: [Hint] = []
    ) {
        self.code = code
        self.cause = cause
        self.values = values
        self.wording = wording
        self.file = file
        self.entry = entry
        self.hints = hints
    }

    /// Creates an error whose message names no settings.
    public init(
        _ code: Code, _ message: String, file: String? = nil, entry: String? = nil, cause: Cause? = nil,
        values: [String] = [], hints: [Hint] = []
    ) {
        self.init(
            code, wording: Wording(message), file: file, entry: entry, cause: cause, values: values, hints: hints)
    }

    /// Creates an error about the file at a path.
    public init(
        _ code: Code, _ message: String, file: FilePath, entry: String? = nil, cause: Cause? = nil,
        values: [String] = [], hints: [Hint] = []
    ) {
        self.init(
            code, message, file: file.string as String?, entry: entry, cause: cause, values: values, hints: hints)
    }

    /// The same error without some of its advice.
    package func without(_ isLeftOut: (Hint) -> Bool) -> BundleError {
        var copy = self
        copy.hints = hints.filter { !isLeftOut($0) }
        copy.further = further.map { $0.without(isLeftOut) }
        return copy
    }

    public var message: String { message(naming: \.rawValue) }

    /// The message with the caller's names of settings.
    public func message(naming name: (Setting) -> String) -> String {
        let text = wording.text(naming: name)
        return text.utf8.count <= Self.longestMessage ? text : text.cut(to: Self.longestMessage) + "…"
    }

    public var description: String { line(message) }

    /// The message, preceded by the file and the entry of this error.
    package func line(_ message: String) -> String {
        [file.map { $0.isEmpty ? "\"\"" : $0 }, entry, message].compactMap(\.self).joined(separator: ": ")
    }
}

extension BundleError.Code {
    // Failures of an operation rather than of a bundle. Spec/command-line.md assigns an exit code to each.
    public static let rawCapture = Self("raw.capture")
    /// No layout fits a raw capture, or its layout cannot be packed. As a note: which layout was taken.
    public static let rawLayout = Self("raw.layout")
    public static let rawArchive = Self("raw.archive")
    public static let rawFrames = Self("raw.frames")
    public static let rawDepth = Self("raw.depth")
    public static let rawUnit = Self("raw.unit")
    public static let rawTime = Self("raw.time")
    public static let rawPosition = Self("raw.position")
    public static let decoderMissing = Self("decoder.missing")
    public static let noNames = Self("names.none")
    public static let rawClash = Self("raw.clash")
    public static let inputUnreadable = Self("input.unreadable")
    public static let outputExists = Self("output.exists")
    public static let outputUnusable = Self("output.unusable")
    public static let inputOutput = Self("io.failed")
    public static let keyMissing = Self("key.missing")
    public static let keyDamaged = Self("key.damaged")
    public static let keyOpenToOthers = Self("key.open")
    public static let keyPassphrase = Self("key.passphrase")
    public static let keyState = Self("key.state")
    public static let keyCounterUsedUp = Self("key.counter")
    public static let trustFile = Self("trust.file")
    public static let trustOpenToOthers = Self("trust.open")
    public static let trustName = Self("trust.name")
    public static let trustExists = Self("trust.exists")
    public static let stateOpenToOthers = Self("state.open")
    public static let stateDamaged = Self("state.damaged")
    public static let internalFailure = Self("internal")
}

extension BundleError {
    /// The error for a call that fails only if memory runs out, a library is broken, or hardware is taken away.
    package static func unexpected(_ error: NativeError) -> BundleError {
        BundleError(error.origin == .hardware ? .inputOutput : .internalFailure, "\(error.origin.rawValue): \(error)")
    }

    /// The error for a file that could not be opened or read.
    ///
    /// - Parameter path: A path, or its text.
    package static func reading(_ path: some CustomStringConvertible, _ error: NativeError) -> BundleError {
        let path = path.description
        if error.isMissing {
            let isLink = FileStatus.isLink(FilePath(path))
            let message = isLink ? "is a link to a file that does not exist" : "no such file or folder"
            return BundleError(.inputUnreadable, message, file: path)
        }
        let code: Code = error.isInputOutput && error.call == "read" ? .inputOutput : .inputUnreadable
        return BundleError(code, "cannot be read: \(error.text)", file: path)
    }

    /// The error for a file that could not be created or written.
    package static func writing(_ path: some CustomStringConvertible, _ error: NativeError) -> BundleError {
        let path = path.description
        if error.isExisting { return .exists(path) }
        let opening = ["open", "linkat", "link", "rename", "access", "mkdir"].contains(error.call)
        if opening && error.isUncreatable {
            return BundleError(.outputUnusable, "cannot be made: \(error.text)", file: path)
        }
        var failure = BundleError(.inputOutput, "cannot be written: \(error.text)", file: path)
        failure.cause = error.isDiskFull ? .diskFull : nil
        return failure
    }

    package static func exists(
        _ path: some CustomStringConvertible, hint: Hint = .set(.replaces)
    ) -> BundleError {
        BundleError(.outputExists, "already exists", file: path.description, hints: [hint])
    }

    /// The same error, but about `file`.
    package func about(file: String) -> BundleError {
        var moved = self
        moved.file = file
        return moved
    }

    /// The error and those in `further`, each alone.
    package var each: [BundleError] {
        var alone = self
        alone.further = []
        return [alone] + further
    }
}

/// Collects the faults of several steps, so that one error reports all of them.
package struct FaultList {
    package private(set) var faults: [BundleError] = []

    package init() {}

    /// The step's value, or nil where it fails.
    package mutating func attempt<Value>(_ step: () throws(BundleError) -> Value) -> Value? {
        do { return try step() } catch {
            add(error)
            return nil
        }
    }

    package mutating func add(_ fault: BundleError) { faults += fault.each }

    /// Throws `joined` if there is a fault.
    func throwAny() throws(BundleError) { if !faults.isEmpty { throw joined } }

    /// The first fault, with the others in `further`, after a step that failed.
    package var joined: BundleError {
        guard var first = faults.first else { return BundleError(.internalFailure, "a failure without a reason") }
        first.further = Array(faults.dropFirst())
        return first
    }
}

/// Runs a native call and converts its failure to this library's error.
package func native<Value>(
    _ convert: (NativeError) -> BundleError = BundleError.unexpected, _ body: () throws -> Value
) throws(BundleError) -> Value {
    do {
        return try body()
    } catch let error as NativeError {
        throw convert(error)
    } catch let error as BundleError {
        throw error
    } catch {
        throw BundleError(.internalFailure, "\(error)")
    }
}
