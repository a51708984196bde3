import SystemPackage

/// Checks a confidence map. It has to be an 8-bit grey PNG, and is packed byte for byte.
enum ConfidenceMap {
    /// Checks the kind of the file by its first bytes.
    ///
    /// - Throws: `raw.capture` if it is not an 8-bit grey PNG.
    static func check(_ bytes: [UInt8], file: FilePath) throws(BundleError) {
        let kind = FileKind(bytes)
        guard let kind, kind.words.hasPrefix("an 8-bit greyscale PNG") else {
            let found = kind.map { "is \($0.words)" } ?? "is not a picture"
            throw BundleError(.rawCapture, "\(found), expected an 8-bit greyscale PNG", file: file)
        }
    }
}
