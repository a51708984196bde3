package import CaptureBundle

extension Setting {
    var option: String { self == .pack ? "capbundle pack" : "--\(rawValue)" }
}

extension BundleError {
    package var words: String { message(naming: \.option) }

    /// `description` with options in place of settings.
    package var line: String { line(words) }
}
