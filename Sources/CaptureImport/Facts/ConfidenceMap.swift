import CaptureBundle
import CaptureDevice
import SystemPackage

/// Checks a confidence map. It has to be an 8-bit grey PNG, and is packed byte for byte.
enum ConfidenceMap {
    /// Checks the kind of the file by its first bytes.
    ///
    /// - Returns: false for a file that is left out, because the bundle must not tell the position.
    /// - Throws: `raw.capture` if it is not an 8-bit grey PNG.
    static func accepts(
        _ bytes: [UInt8], file: FilePath, _ options: RawCaptureOptions, _ remarks: inout RemarkList
    ) throws(BundleError) -> Bool {
        let kind = FileKind(bytes)
        guard let kind, kind.words.hasPrefix("an 8-bit greyscale PNG") else {
            let found = kind.map { "is \($0.words)" } ?? "is not a picture"
            throw BundleError(.rawCapture, "\(found), expected an 8-bit greyscale PNG", file: file)
        }
        guard options.hidesPosition, let words = Unlisted.confidence(bytes) else { return true }
        remarks.add(
            .note, "raw.ignored", file,
            wording: "left out: it \(words), which \(.location) \(options.location.rawValue) does not allow")
        return false
    }
}
