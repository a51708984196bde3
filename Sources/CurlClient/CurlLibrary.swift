import CCurl
import Glibc

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

/// The sockets of a session. They report how much of a request is still unsent and what a server said before it reset a
/// connection.
///
/// libcurl 7.88 stops at the send that failed and does not read what came before the reset; the kernel still has these
/// bytes when the connection is closed. They are used only without TLS: under TLS, anyone could have written them.
final class SessionSockets {
    private var open: Set<Int32> = []
    private var isWanted = false
    private var bytes: [UInt8]?
    /// Whether nothing at all was received on the connection that was closed last.
    private(set) var wasSilent = false
    private static let limit = 1 << 16

    /// The number of bytes that were written and that the other side has not acknowledged.
    var waiting: Int { open.reduce(0) { $0 + Int(capture_unsent($1)) } }

    func opened(_ socket: Int32) { open.insert(socket) }

    func begin() {
        isWanted = true
        wasSilent = false
        bytes = nil
    }

    /// - Returns: The bytes that were read from the connection that was closed last since `begin`; nil if there are
    ///   none.
    func end() -> [UInt8]? {
        isWanted = false
        return bytes
    }

    func close(_ socket: Int32) {
        open.remove(socket)
        defer { _ = Glibc.close(socket) }
        wasSilent = 0...1 ~= capture_received(socket)
        guard isWanted else { return }
        // If several connections are closed, the last one counts, even if it sent nothing.
        bytes = nil
        var buffer = [UInt8](repeating: 0, count: Self.limit)
        let count = unsafe recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { bytes = Array(buffer[..<count]) }
    }

    /// Whether a read would return at once, even if only with the end of the connection.
    static func hasInput(_ socket: Int32) -> Bool {
        var one = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&one, 1, 0) > 0
    }
}
