import CCurl

/// libcurl, loaded when it is first needed.
@safe
final class CurlLibrary: Sendable {
    /// nil if libcurl cannot be loaded.
    static let shared: CurlLibrary? = CurlLibrary()

    /// The table of libcurl's functions, which stays allocated as long as the process runs.
    ///
    /// It is `nonisolated(unsafe)` because C pointers are never Sendable: it is written in `init` and only read
    /// afterwards.
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

/// Reports whether libcurl could be loaded.
package enum CurlLibraryState {
    package static var isThere: Bool { CurlLibrary.shared != nil }
}
