import CaptureNative
public import SystemPackage

/// Who vouches for which device key: a text file, a line a device (Spec/capture-bundle.md section 10).
public struct TrustFile: Sendable {
    private enum Line {
        case device(TrustedDeviceLine)
        /// A comment or an empty line, kept as it is.
        case other(String)

        var text: String {
            switch self {
            case .device(let device): device.text
            case .other(let text): text
            }
        }
    }

    private var lines: [Line] = []

    private static let sizeLimit = 64 << 20

    /// A file that names nobody.
    public init() {}

    /// Reads a trust file.
    ///
    /// - Throws: `input.unreadable` when it cannot be read, `trust.file` when a line is wrong.
    public init(path: FilePath) throws(BundleError) {
        let bytes: [UInt8]
        do {
            bytes = try FileHandle.reading(path).readAll(limit: Self.sizeLimit)
        } catch {
            throw .reading(path, error)
        }
        try self.init(bytes: bytes, name: path.string)
    }

    /// Reads the text of a trust file; `name` is for messages.
    public init(bytes: [UInt8], name: String) throws(BundleError) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw BundleError(.trustFile, "not UTF-8 text", file: name)
        }
        var rest = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            String($0) ?? ""
        }
        if rest.last == "" { rest.removeLast() }
        for (index, line) in rest.enumerated() {
            if line.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) || line.utf8.first == UInt8(ascii: "#") {
                lines.append(.other(line))
                continue
            }
            do {
                lines.append(.device(try TrustedDeviceLine(parsing: line)))
            } catch {
                throw BundleError(error.code, "line \(index + 1): \(error.message)", file: name)
            }
        }
    }

    public var devices: [TrustedDeviceLine] {
        lines.compactMap { if case .device(let device) = $0 { device } else { nil } }
    }

    /// Adds a device at the end.
    ///
    /// - Throws: `trust.exists` when the name is taken, the key is already there, or it was revoked.
    public mutating func add(_ device: TrustedDeviceLine) throws(BundleError) {
        for known in devices {
            if known.point == device.point {
                let state = known.isRevoked ? "is revoked" : "is already trusted"
                throw BundleError(.trustExists, "this key \(state) under the name \(known.name)")
            }
            if known.name == device.name {
                throw BundleError(
                    .trustExists, "a device called \(device.name) is already there, with another key",
                    hints: ["choose another name"])
            }
        }
        lines.append(.device(device))
    }

    /// Marks every line of that name as revoked.
    ///
    /// - Returns: how many lines were not revoked before.
    /// - Throws: `trust.name` when no line has the name.
    public mutating func revoke(name: String) throws(BundleError) -> Int {
        guard devices.contains(where: { $0.name == name }) else {
            throw BundleError(.trustName, "no device called \(name)")
        }
        var count = 0
        lines = lines.map { line in
            guard case .device(var device) = line, device.name == name, !device.isRevoked else { return line }
            device.isRevoked = true
            count += 1
            return .device(device)
        }
        return count
    }

    /// Changes the file at `path` under a lock: read, change, write whole, sync.
    ///
    /// - Parameter change: what it throws leaves the file as it was.
    public static func update<Value>(
        path: FilePath, _ change: (inout TrustFile) throws(BundleError) -> Value
    ) throws(BundleError) -> Value {
        // A link stays a link: the file that it names is the one that others read too.
        let resolved = path.resolved
        guard resolved.name != nil else {
            throw BundleError(.outputUnusable, "is a folder, expected the name of a file", file: path)
        }
        do {
            try DirectoryHandle.create(resolved.folder, mode: 0o755)
        } catch {
            throw .writing(path, error)
        }
        return try FileLock.withLock(path: resolved.adding(".lock"), convert: { .writing(path, $0) }) {
            () throws(BundleError) in
            var file = FileStatus.exists(resolved) ? try TrustFile(path: resolved) : TrustFile()
            let value: Value
            do throws(BundleError) {
                value = try change(&file)
            } catch {
                throw error.about(file: path.string)
            }
            let text = file.lines.map { $0.text + "\n" }.joined()
            do throws(NativeError) {
                let mode = try FileStatus.exists(resolved) ? FileStatus.of(resolved).mode & 0o777 : 0o644
                try AtomicFile.write(Array(text.utf8), to: resolved, mode: mode, existing: .replace)
            } catch {
                throw .writing(path, error)
            }
            return value
        }
    }
}
