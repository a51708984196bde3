import SystemPackage

/// A confidence map: an 8-bit grey PNG, which is packed byte for byte.
enum ConfidenceMap {
    /// - Throws: `raw.capture` if the file is something else.
    static func check(_ bytes: [UInt8], file: FilePath) throws(BundleError) {
        let kind = FileKind(bytes)
        guard let kind, kind.words.hasPrefix("an 8-bit greyscale PNG") else {
            let found = kind.map { "is \($0.words)" } ?? "is not a picture"
            throw BundleError(.rawCapture, "\(found), expected an 8-bit greyscale PNG", file: file)
        }
    }
}
