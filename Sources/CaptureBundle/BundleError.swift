package import CaptureNative
public import SystemPackage

/// The only error type of this library, and also a finding of a verification.
///
/// `code` and `cause` are for programs. `message` is for people: in lower case and without a full stop, it says what was
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
    }

    public let code: Code
    public package(set) var cause: Cause?
    /// What the cause says more about, such as the name that was found, in the order that the cause states.
    public package(set) var values: [String]
    /// At most 1000 bytes, since it may quote a hostile file. Options in it have the names that capbundle gives them.
    public let message: String
    /// The file to which the error belongs, as the user named it; nil for a finding in a bundle.
    public private(set) var file: String?
    public let entry: String?
    /// Other faults that were found in the same raw folder, so that all can be mended at once.
    public internal(set) var further: [BundleError] = []

    private static let longestMessage = 1000

    public init(
        _ code: Code, _ message: String, file: String? = nil, entry: String? = nil, cause: Cause? = nil,
        values: [String] = []
    ) {
        self.code = code
        self.cause = cause
        self.values = values
        self.message =
            message.utf8.count <= Self.longestMessage ? message : message.cut(to: Self.longestMessage) + "…"
        self.file = file
        self.entry = entry
    }

    /// Creates an error about the file at a path.
    public init(
        _ code: Code, _ message: String, file: FilePath, entry: String? = nil, cause: Cause? = nil,
        values: [String] = []
    ) {
        self.init(code, message, file: file.string as String?, entry: entry, cause: cause, values: values)
    }

    /// The message, preceded by the file and the entry of this error.
    public var description: String {
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

extension BundleError.Cause {
    /// A file could not be written because the disk or the user's quota is full.
    public static let diskFull = Self("disk.full")
    /// metadata.json has no time or no model, nor a member with a similar name.
    public static let noTime = Self("time.missing")
    public static let noModel = Self("model.missing")

    /// There is a file, which the caller can allow to be replaced.
    public static let replaceable = Self("output.replaceable")
    /// A page would replace a file that is not a page.
    public static let otherPage = Self("output.other")
    public static let folderMissing = Self("folder.missing")
    public static let folderIsLink = Self("folder.link")
    public static let temporaryFolder = Self("folder.temporary")
    /// A folder, or a file of another kind, was given where a file was expected.
    public static let isFolder = Self("file.folder")
    public static let otherKind = Self("file.kind")
    public static let openToOthers = Self("file.open")
    /// A bundle has faults, of which this is the worst; or a pipe gave no bytes in place of a bundle.
    public static let unsound = Self("bundle.unsound")
    public static let emptyPipe = Self("pipe.empty")
    /// The file of a counter state has a part of a record.
    public static let recordCut = Self("state.cut")
    /// An entry was withheld from the bundle, or was not in it; the values are what the bundle has, or what it lacks.
    public static let withheld = Self("entry.withheld")
    public static let notInBundle = Self("entry.absent")
    /// The manifest does not mark the entry as withholdable. A value for each entry that it marks.
    public static let notWithholdable = Self("entry.fixed")

    // What a file has instead of the expected key.
    public static let isPublicKey = Self("key.public")
    public static let isPrivateKey = Self("key.private")
    public static let isEncryptedKey = Self("key.encrypted")
    /// A private key of SSH, in place of a public key or of our device key.
    public static let isSSHSecret = Self("key.ssh.secret")
    public static let isSSHPrivateKey = Self("key.ssh.private")
    public static let isSSHPublicKey = Self("key.ssh.public")
    public static let isCertificate = Self("key.certificate")
    public static let isBundle = Self("key.bundle")
    public static let isOtherKey = Self("key.other")
    public static let isNoKey = Self("key.none")

    /// The value is the name under which the key or certificate is revoked, or is trusted.
    public static let revoked = Self("trust.revoked")
    public static let trusted = Self("trust.trusted")
    public static let nameTaken = Self("trust.name.taken")
    public static let isAuthority = Self("trust.authority")
    /// Several lines have the name; the values are their key ids, if these tell the lines apart.
    public static let severalLines = Self("trust.lines")
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
        let isFailure = error.isOfDevice || error.isInputOutput && error.call == "read"
        let code: Code = isFailure ? .inputOutput : .inputUnreadable
        return BundleError(code, "cannot be read: \(error.text)", file: path)
    }

    /// The error for a file that could not be opened, or a folder where a file was expected.
    static func opening(_ path: FilePath, _ error: NativeError) -> BundleError {
        guard error.isFolder else { return reading(path, error) }
        return BundleError(.inputUnreadable, "is a folder, expected a file", file: path, cause: .isFolder)
    }

    /// The error for a file that could not be created or written.
    package static func writing(_ path: some CustomStringConvertible, _ error: NativeError) -> BundleError {
        let path = path.description
        if error.isExisting { return .exists(path) }
        let opening = ["open", "linkat", "link", "rename", "access", "mkdir"].contains(error.call)
        if opening && error.isUncreatable {
            return BundleError(.outputUnusable, "cannot be made: \(error.text)", file: path)
        }
        return BundleError(
            .inputOutput, "cannot be written: \(error.text)", file: path, cause: error.isDiskFull ? .diskFull : nil)
    }

    package static func exists(_ path: some CustomStringConvertible, _ cause: Cause = .replaceable) -> BundleError {
        BundleError(.outputExists, "already exists", file: path.description, cause: cause)
    }

    /// The error for an output that would replace a device, a pipe or a link.
    static func notRegular(_ path: FilePath) -> BundleError {
        BundleError(.outputUnusable, "exists and is not a regular file, so it is not replaced", file: path)
    }

    /// The error for an output that would replace a file that the same call reads.
    static func input(_ path: FilePath) -> BundleError {
        BundleError(.outputUnusable, "is also an input, expected another name", file: path)
    }

    /// The same error, but about `file`.
    package func about(file: String) -> BundleError {
        var moved = self
        moved.file = file
        return moved
    }

    /// The same error with another cause.
    package func with(_ cause: Cause?, _ values: [String] = []) -> BundleError {
        var copy = self
        (copy.cause, copy.values) = (cause, values)
        return copy
    }

    /// The error and those in `further`, each alone.
    package var each: [BundleError] {
        var alone = self
        alone.further = []
        return [alone] + further
    }
}

/// The faults of several steps, so that one error reports all of them.
extension [BundleError] {
    /// The step's value, or nil where it fails.
    package mutating func attempt<Value>(_ step: () throws -> Value) -> Value? {
        do { return try native { try step() } } catch {
            self += error.each
            return nil
        }
    }

    /// Throws `joined` if there is a fault.
    func throwAny() throws(BundleError) { if !isEmpty { throw joined } }

    /// The first fault, with the others in `further`, after a step that failed.
    package var joined: BundleError {
        guard var first = first else { return BundleError(.internalFailure, "a failure without a reason") }
        first.further = Array(dropFirst())
        return first
    }
}

/// Converts the errors of native calls to this library's; an error of a third type, as from a closure, becomes `internal`.
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
