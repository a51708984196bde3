import CaptureNative
public import SystemPackage

/// A PEM file with a public key.
public enum PublicKeyFile {
    private static let sizeLimit = 1 << 16

    /// Reads a public key.
    ///
    /// - Parameter path: A file, or `-` for standard input.
    /// - Throws: `input.unreadable`, or `key.damaged` if the file has no public P-256 key.
    public static func point(path: FilePath) throws(BundleError) -> DevicePoint {
        let bytes: [UInt8]
        do {
            let handle = path == "-" ? FileHandle.standardInput : try FileHandle.reading(path)
            bytes = try handle.readAll(limit: sizeLimit)
        } catch {
            // A capture bundle, for example.
            guard error.isTooLarge, let kind = FileKind(file: path) else { throw .reading(path, error) }
            throw BundleError(
                .keyDamaged, "is \(kind.words), expected a PEM file with a public key on P-256", file: path,
                cause: kind.family == .bundle ? .isBundle : nil)
        }
        return try point(pem: bytes, name: path.string)
    }

    package static func point(pem: [UInt8], name: String) throws(BundleError) -> DevicePoint {
        let count = PEMText.count("PUBLIC KEY", in: pem)
        guard count < 2 else { throw BundleError(.keyDamaged, "has \(count) public keys, expected one", file: name) }
        guard let key = try (native { try P256PublicKey(pem: pem) }) else {
            let other = KeyFileKind(insteadOfAPublicKey: pem)
            throw BundleError(
                .keyDamaged,
                other.map { "is \($0.words), expected a PEM file with a public key on P-256" }
                    ?? "is not a PEM file with a public key on P-256", file: name,
                cause: other?.cause ?? .isNoKey)
        }
        return try DevicePoint(bytes: key.point)
    }
}
