import CCurl

/// libcurl, loaded when it is first needed.
@safe
final class CurlLibrary: Sendable {
    /// nil where the machine has no libcurl.
    static let shared: CurlLibrary? = CurlLibrary()

    /// Lives as long as the process does.
    ///
    /// `nonisolated(unsafe)`, since C pointers are never known to be Sendable: it is written here and only read afterwards.
    nonisolated(unsafe) let calls: UnsafePointer<capture_curl>

    private init?() {
        let table = UnsafeMutablePointer<capture_curl>.allocate(capacity: 1)
        unsafe table.initialize(to: capture_curl())
        guard unsafe capture_curl_load(table) == 1 else {
            unsafe table.deallocate()
            return nil
        }
        unsafe calls = UnsafePointer(table)
    }

    func text(of code: CURLcode) -> String {
        guard let text = unsafe calls.pointee.easy_strerror(code) else { return "libcurl code \(code.rawValue)" }
        return unsafe String(cString: text)
    }
}

/// Whether there is a libcurl to load.
package enum CurlLibraryState {
    package static var isThere: Bool { CurlLibrary.shared != nil }
}
