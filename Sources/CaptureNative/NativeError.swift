/// A failed call into the operating system or a C library.
///
/// It holds the library, the call, and the library's own code and text. The code that catches it knows the file and
/// adds that.
package struct NativeError: Error, Hashable, CustomStringConvertible {
    package enum Origin: String, Sendable {
        case system, openSSL = "OpenSSL", zlib, libdeflate
        /// A key in hardware. It can be taken away or be locked at any time.
        case hardware = "the key in hardware"
    }

    package let origin: Origin
    /// The name of the function that failed, as in its manual page.
    package let call: String
    /// `errno` for the system; for a library, its own error number.
    package let code: Int32
    /// The library's own text for `code`.
    package let text: String

    package var description: String { "\(call): \(text)" }
}

/// The value of `body`; nil if it fails with an error that is allowed.
package func allowing<Value>(_ isAllowed: (NativeError) -> Bool, _ body: () throws -> Value?) throws -> Value? {
    do { return try body() } catch let error as NativeError where isAllowed(error) { return nil }
}
