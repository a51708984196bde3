import CaptureNative

/// Where a file that a command makes goes.
public enum OutputPlace: Hashable, Sendable {
    /// Appears whole or not at all; something that is there already is refused.
    case file(String)
    /// Appears whole or not at all, in place of what is there.
    case replacing(String)
    case standardOutput

    /// As messages name it.
    public var name: String {
        switch self {
        case .file(let path), .replacing(let path): path
        case .standardOutput: "standard output"
        }
    }

    /// Refuses a place that cannot take a file, before anything is made.
    ///
    /// - Throws: `output.exists`, `output.unusable`.
    func examine() throws(BundleError) {
        switch self {
        case .standardOutput: return
        case .file(let path):
            try Self.refuseFolder(path)
            guard !FileStatus.exists(path) else { throw .exists(path) }
            try Self.examineFolder(of: path)
        case .replacing(let path):
            try Self.refuseFolder(path)
            if let status = try? FileStatus.of(path), status.kind != .file {
                throw BundleError(.outputUnusable, "is there and no plain file, so it is not replaced", file: path)
            }
            try Self.examineFolder(of: path)
        }
    }

    /// Refuses places of one command that are the same, or that are its input: the second would take the first away.
    ///
    /// - Parameter input: a file that is being read; nil for none.
    /// - Throws: `output.unusable`.
    static func examine(_ places: [OutputPlace], reading input: FileStatus? = nil) throws(BundleError) {
        var seen: [OutputPlace: String] = [:]
        for place in places {
            guard let path = place.path else { continue }
            let whole = FilePath.join(FilePath.resolved(FilePath.folder(of: path)), FilePath.name(of: path))
            if let other = seen.updateValue(path, forKey: .file(whole)) {
                throw BundleError(.outputUnusable, "is named for two outputs", file: other)
            }
            if let input, input.kind == .file, let there = try? FileStatus.of(path), there.isSameFile(as: input) {
                throw BundleError(.outputUnusable, "is the file that is being read", file: path)
            }
        }
        for place in places { try place.examine() }
    }

    private var path: String? {
        switch self {
        case .file(let path), .replacing(let path): path
        case .standardOutput: nil
        }
    }

    private static func refuseFolder(_ path: String) throws(BundleError) {
        guard !path.isEmpty else { throw BundleError(.outputUnusable, "is no name for a file", file: path) }
        let isFolder = (try? FileStatus.of(path))?.kind == .folder
        guard !isFolder, !FilePath.name(of: path).isEmpty else {
            throw BundleError(.outputUnusable, "is a folder, expected the name of a file", file: path)
        }
    }

    private static func examineFolder(of path: String) throws(BundleError) {
        let length = FilePath.name(of: path).utf8.count
        guard length <= FilePath.nameLimit else {
            throw BundleError(
                .outputUnusable, "the name has \(length) bytes, at most \(FilePath.nameLimit) are allowed", file: path)
        }
        let folder = FilePath.folder(of: path)
        do {
            try ProcessEnvironment.canWrite(folder: folder)
        } catch {
            throw BundleError(.outputUnusable, "the folder \(folder) cannot be written to: \(error.text)", file: path)
        }
    }
}
