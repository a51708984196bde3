package import CaptureNative
public import SystemPackage

/// The place to which a command writes a file.
public enum OutputPlace: Hashable, Sendable {
    /// A file that appears either complete or not at all. An existing file is refused.
    case file(FilePath)
    /// A file that appears either complete or not at all and replaces an existing one.
    case replacing(FilePath)
    case standardOutput

    /// The place that the user wrote. `name/` means a folder and is refused.
    ///
    /// - Throws: `output.unusable` if the text cannot be the name of a file.
    package static func named(_ text: String, replaces: Bool) throws(BundleError) -> OutputPlace {
        guard !text.isEmpty, !text.utf8.contains(0) else {
            throw BundleError(.outputUnusable, "is not a file name", file: text)
        }
        guard text.utf8.last != UInt8(ascii: "/") else { throw isFolder(text) }
        return replaces ? .replacing(FilePath(text)) : .file(FilePath(text))
    }

    public var name: String { path?.string ?? "standard output" }

    /// Refuses a place where the file cannot be written, before anything is created.
    ///
    /// - Parameter mayExist: Whether a file that exists is judged later, by its bytes.
    /// - Throws: `output.exists`, `output.unusable`.
    package func examine(mayExist: Bool = false) throws(BundleError) {
        guard let path else { return }
        try Self.refuseFolder(path)
        if exists, !mayExist { throw .exists(path) }
        if case .replacing = self, let status = try? FileStatus.of(path), status.kind != .file {
            throw .notRegular(path)
        }
        try Self.examineFolder(of: path)
    }

    /// Refuses a place that a command uses twice, or that is its input: the second file would replace the first.
    ///
    /// - Parameters:
    ///   - input: The file that is being read; nil if there is none.
    ///   - examine: Examines each place.
    /// - Throws: `output.unusable`, and the errors that `examine` throws.
    package static func examine(
        _ places: [OutputPlace], reading input: FileStatus? = nil,
        by examine: (OutputPlace) throws -> Void = { try $0.examine() }
    ) throws(BundleError) {
        var seen: [FilePath: FilePath] = [:]
        for place in places {
            guard let path = place.path else { continue }
            try refuseFolder(path)
            let whole = path.lastComponent.map { path.folder.resolved.appending($0) } ?? path
            if let other = seen.updateValue(path, forKey: whole) {
                throw BundleError(.outputUnusable, "is given for two outputs", file: other)
            }
            if let input, input.kind == .file, let there = try? FileStatus.of(path), there.isSameFile(as: input) {
                throw .input(path)
            }
        }
        for place in places { try native { try examine(place) } }
    }

    /// Refuses a place that is a file of a raw folder, since the output would replace a part of the capture.
    ///
    /// - Throws: `output.unusable`.
    package func refuse(inside raw: FilePath) throws(BundleError) {
        guard let path, (try? FileStatus.of(path))?.kind == .file, (try? FileStatus.of(raw))?.kind == .folder else {
            return
        }
        if path.resolved.starts(with: raw.resolved) {
            throw BundleError(
                .outputUnusable, "is a file of the raw capture, expected another name", file: path)
        }
    }

    /// Refuses a place whose file is also read, which the output would replace.
    ///
    /// - Throws: `output.unusable`.
    package func refuse(inputs: [FilePath]) throws(BundleError) {
        guard let path, let there = try? FileStatus.of(path), there.kind == .file else { return }
        for input in inputs where (try? FileStatus.of(input))?.isSameFile(as: there) ?? false {
            throw .input(path)
        }
    }

    /// Whether there is a file that is not to be replaced.
    package var exists: Bool {
        if case .file(let path) = self { FileStatus.exists(path) } else { false }
    }

    /// The path; nil for standard output.
    package var path: FilePath? {
        switch self {
        case .file(let path), .replacing(let path): path
        case .standardOutput: nil
        }
    }

    private static func refuseFolder(_ path: FilePath) throws(BundleError) {
        guard !path.isEmpty else { throw BundleError(.outputUnusable, "is not a file name", file: path) }
        guard path.name != nil, (try? FileStatus.of(path))?.kind != .folder else { throw isFolder(path.string) }
    }

    private static func isFolder(_ path: String) -> BundleError {
        BundleError(.outputUnusable, "is a folder, expected the name of a file", file: path)
    }

    private static func examineFolder(of path: FilePath) throws(BundleError) {
        let length = path.name?.bytes.count ?? 0
        guard length <= FilePath.nameLimit else {
            throw BundleError(
                .outputUnusable, "the name has \(length) bytes, at most \(FilePath.nameLimit) are allowed", file: path)
        }
        let folder = path.folder
        try native({ error in
            error.isMissing && !error.isNoFolder
                ? BundleError(.outputUnusable, "the folder \(folder) does not exist", file: path, cause: .folderMissing)
                : BundleError(.outputUnusable, "the folder \(folder) cannot be written to: \(error.text)", file: path)
        }) { try ProcessEnvironment.canWrite(folder: folder) }
    }
}
