/// A call into the operating system or a C library that did not do what was asked.
///
/// It says which library, which call, and the library's own code and words; whoever catches it knows the file and adds it.
package struct NativeError: Error, Hashable, CustomStringConvertible {
    package enum Origin: String, Sendable {
        case system, openSSL = "OpenSSL", zlib, libdeflate
    }

    package let origin: Origin
    /// The function that failed, as its manual page is named.
    package let call: String
    /// `errno` for the system, the library's own number otherwise.
    package let code: Int32
    /// The library's own words for `code`.
    package let text: String

    package init(origin: Origin, call: String, code: Int32, text: String) {
        self.origin = origin
        self.call = call
        self.code = code
        self.text = text
    }

    package var description: String { "\(call): \(text)" }
}
