package import CaptureBundle
package import CaptureDevice

extension Setting {
    var option: String { self == .pack ? "capbundle pack" : "--\(rawValue)" }
}

extension BundleError {
    package var words: String { message(naming: \.option) }

    /// `description` with options in place of settings.
    package var line: String { line(words) }
}

extension Remark {
    /// The message with options in place of settings.
    package var words: String { wording.text(naming: \.option) }
}
