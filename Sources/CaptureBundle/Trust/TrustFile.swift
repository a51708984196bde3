import CaptureNative
public import SystemPackage

/// The devices and the time stamping authorities that the user trusts: a text file with one line for each
/// (Spec/capture-bundle.md section 10).
public struct TrustFile: Sendable {
    private enum Line {
        /// With the text of the file, which stays as it was written until the device changes.
        case device(TrustedDeviceLine, written: String? = nil)
        case authority(TrustedAuthorityLine, written: String? = nil)
        /// A comment or an empty line, which is kept unchanged.
        case other(String)

        var text: String {
            switch self {
            case .device(let device, let written): written ?? device.text
            case .authority(let authority, let written): written ?? authority.text
            case .other(let text): text
            }
        }
    }

    private var lines: [Line] = []

    /// Creates a trust file without devices.
    public init() {}

    /// Reads a trust file.
    ///
    /// - Throws: `input.unreadable` if the file cannot be read, `trust.file` if it is too large or a line is wrong.
    public init(path: FilePath) throws(BundleError) {
        let limit = BundleLimits.trustFileBytes
        let bytes = try native({
            $0.isTooLarge ? BundleError(.trustFile, "has more than \(limit) bytes", file: path) : .reading(path, $0)
        }) { try FileHandle.reading(path).readAll(limit: limit) }
        try self.init(bytes: bytes, name: path.string)
    }

    /// Parses the text of a trust file. `name` is its name in messages.
    public init(bytes: [UInt8], name: String) throws(BundleError) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Self.anotherKind(bytes, name) ?? BundleError(.trustFile, "is not UTF-8 text", file: name)
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
                let fields = try TrustLineFields(line)
                lines.append(
                    fields.type == TrustedAuthorityLine.keyType
                        ? .authority(try TrustedAuthorityLine(fields, file: name), written: line)
                        : .device(try TrustedDeviceLine(fields), written: line))
            } catch {
                throw Self.anotherKind(bytes, name)
                    ?? BundleError(error.code, "line \(index + 1): \(error.message)", file: name)
            }
        }
    }

    /// Returns an error that says what the file is instead of a trust file, such as a key or a bundle. Returns nil if
    /// the kind of the file is unknown.
    private static func anotherKind(_ bytes: [UInt8], _ name: String) -> BundleError? {
        KeyFileKind(insteadOfATrustFile: bytes).map { other in
            BundleError(.trustFile, "is \(other.words), not a trust file", file: name, cause: other.cause)
        }
    }

    public var devices: [TrustedDeviceLine] {
        lines.compactMap { if case .device(let device, _) = $0 { device } else { nil } }
    }

    /// The time stamping authorities, in the order of their lines.
    public var authorities: [TrustedAuthorityLine] {
        lines.compactMap { if case .authority(let authority, _) = $0 { authority } else { nil } }
    }

    /// Checks the certificates of the authorities, so that nobody is asked for a time stamp that cannot be checked.
    ///
    /// - Throws: `trust.file` if a line of an authority has no certificate.
    package func requireCertificates() throws(BundleError) {
        for authority in authorities { _ = try authority.parsed() }
    }

    /// Adds the lines of another file at the end. If one of them revokes a key, the key is revoked.
    public mutating func append(_ other: TrustFile) { lines += other.lines }

    /// Trusts the certificates of a PEM file as authorities. They have neither names of their own nor windows.
    ///
    /// - Throws: `input.unreadable`, or `key.damaged` if the file has no certificate.
    public mutating func append(certificates path: FilePath) throws(BundleError) {
        lines += try TrustedAuthorityLine.read(path).map { .authority($0) }
    }

    /// Adds a device at the end.
    ///
    /// - Throws: `trust.exists` if the name is taken or the key is already in the file, even as revoked.
    public mutating func add(_ device: TrustedDeviceLine) throws(BundleError) {
        if let known = revoking(device) ?? devices.first(where: { $0.point == device.point }) {
            let state = known.isRevoked ? "is revoked" : "is already trusted"
            throw BundleError(
                .trustExists, "this key \(state) under the name \(known.name)",
                cause: known.isRevoked ? .revoked : .trusted, values: [known.name])
        }
        try requireFree(device.name)
        lines.append(.device(device))
    }

    /// Adds a time stamping authority at the end.
    ///
    /// - Throws: `trust.exists` if the name is taken or the certificate is already in the file, even as revoked.
    public mutating func add(_ authority: TrustedAuthorityLine) throws(BundleError) {
        if let known = authorities.first(where: { $0.certificate == authority.certificate }) {
            let state = known.isRevoked ? "is revoked" : "is already trusted"
            throw BundleError(
                .trustExists, "this certificate \(state) under the name \(known.name)",
                cause: known.isRevoked ? .revoked : nil, values: [known.name])
        }
        try requireFree(authority.name)
        lines.append(.authority(authority))
    }

    /// The first line that revokes the key of a device.
    private func revoking(_ device: TrustedDeviceLine) -> TrustedDeviceLine? {
        devices.first { $0.point == device.point && $0.isRevoked }
    }

    private func requireFree(_ name: String) throws(BundleError) {
        guard !devices.contains(where: { $0.name == name }), !authorities.contains(where: { $0.name == name }) else {
            throw BundleError(
                .trustExists, "the name \(name) is already used in the trust file", cause: .nameTaken)
        }
    }

    /// Changes the one line of a device.
    ///
    /// - Parameter word: The name or the key id of the device.
    /// - Returns: The device as it is now.
    /// - Throws: `trust.name` if no line or several lines have this name or key id, or if the device is revoked; the
    ///   error that `change` throws, of which one of another type becomes `internal`.
    public mutating func set(
        _ word: String, _ change: (inout TrustedDeviceLine) throws -> Void
    ) throws(BundleError) -> TrustedDeviceLine {
        var found: [(index: Int, device: TrustedDeviceLine)] = []
        for (index, line) in lines.enumerated() {
            guard case .device(let device, _) = line else { continue }
            if device.name == word || device.point.keyID.description == word { found.append((index, device)) }
        }
        guard let (index, known) = found.first else {
            let isAuthority = authorities.contains { $0.name == word }
            throw BundleError(
                .trustName, "no device has the name or key id \(word)",
                cause: isAuthority ? .isAuthority : nil)
        }
        guard found.count == 1 else {
            // An id tells the lines apart only if no other has it.
            let ids = found.map(\.device.point.keyID.description)
            let isChoice = !ids.contains(word) && Set(ids.map { Array($0.utf8) }).count == ids.count
            throw BundleError(
                .trustName, "\(found.count) lines are about \(word), expected one",
                cause: .severalLines, values: isChoice ? ids : [])
        }
        if let line = known.isRevoked ? known : revoking(known) {
            let place = line.name == known.name ? "" : " under the name \(line.name)"
            throw BundleError(
                .trustName, "\(known.name) is revoked\(place)", cause: .revoked, values: [line.name])
        }
        var device = known
        try native { try change(&device) }
        lines[index] = .device(device)
        return device
    }

    /// Marks all lines with this name as revoked. A line that is revoked keeps its time if that is earlier.
    ///
    /// - Returns: The number of lines that changed.
    /// - Throws: `trust.name` if no line has the name, or if it is that of an authority and `revocation` has a time.
    public mutating func revoke(
        name: String, _ revocation: Revocation = .always
    ) throws(BundleError) -> Int {
        let isAuthority = authorities.contains { $0.name == name }
        guard isAuthority || devices.contains(where: { $0.name == name }) else {
            throw BundleError(.trustName, "no line has the name \(name)")
        }
        guard !isAuthority || revocation == .always else {
            throw BundleError(
                .trustName,
                "\(name) is a time stamping authority, so it can be revoked only without a time: whoever has its key can stamp any time"
            )
        }
        var count = 0
        lines = lines.map { line in
            switch line {
            case .device(var device, _) where device.name == name && revocation.isStricter(than: device.revocation):
                device.revocation = revocation
                count += 1
                return .device(device)
            case .authority(var authority, _) where authority.name == name && !authority.isRevoked:
                authority.isRevoked = true
                count += 1
                return .authority(authority)
            default: return line
            }
        }
        return count
    }

    /// Changes the file at `path` under a lock: it reads the file, changes it, replaces it atomically and syncs it.
    ///
    /// - Parameter change: Changes the devices. If it throws, the file stays unchanged. An error that is not a
    ///   `BundleError` becomes `internal`.
    public static func update<Value>(
        path: FilePath, _ change: (inout TrustFile) throws -> Value
    ) throws(BundleError) -> Value {
        // A symbolic link stays a link, and the file to which it leads is changed, because others read that file too.
        let resolved = path.resolved
        guard resolved.name != nil else {
            throw BundleError(.outputUnusable, "is a folder, expected the name of a file", file: path)
        }
        if let status = try? FileStatus.of(resolved), ![.file, .folder].contains(status.kind) {
            throw .notRegular(path)
        }
        return try native({ .writing(path, $0) }) {
            _ = try Folders.create(resolved.folder, mode: 0o755)
            return try FileLock.withLock(path: resolved.adding(".lock")) {
                let isThere = AtomicFile.isThere(resolved)
                var file = isThere ? try TrustFile(path: resolved) : TrustFile()
                let value: Value
                do { value = try change(&file) } catch let error as BundleError { throw error.about(file: path.string) }
                let text = file.lines.map { $0.text + "\n" }.joined()
                let mode = isThere ? try FileStatus.of(resolved).mode & 0o777 : 0o644
                try AtomicFile.write(Array(text.utf8), to: resolved, mode: mode, existing: .replace)
                return value
            }
        }
    }
}
