package import CaptureBundle
package import SystemPackage

extension BundleError {
    /// What the user can do about the error: sentences with our commands and options, computed from its code, cause and place.
    package var advice: [String] { adviceWithoutPackOptions + adviceOnPackOptions }

    /// The same for commands that have no options of `capbundle pack`.
    package var adviceWithoutPackOptions: [String] {
        adviceOnFiles + adviceOnDevice + adviceOnCapture + adviceOnPictures
    }

    /// An error of the tool itself, with its advice.
    package init(_ code: Code, _ message: String, file: FilePath? = nil, advice: [String]) {
        self.init(code, message, file: file?.string, cause: .told, values: advice)
    }
}

extension BundleError.Cause {
    /// An error of the tool itself; the values are its advice.
    package static let told = Self("told")
}
