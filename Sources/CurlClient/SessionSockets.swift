import CCurl
import Glibc

/// The sockets of a session: what of a request still waits in them, and what a server said before it reset one.
///
/// libcurl 7.88 ends with the send that failed and does not read what came before the reset; the kernel still has it when the
/// connection is closed. Without TLS only: under TLS anyone could have written these bytes.
final class SessionSockets {
    private var open: Set<Int32> = []
    private var isWanted = false
    private var bytes: [UInt8]?
    private static let limit = 1 << 16

    /// Bytes that were written and that the other side has not taken yet.
    var waiting: Int { open.reduce(0) { $0 + Int(capture_unsent($1)) } }

    func opened(_ socket: Int32) { open.insert(socket) }

    func begin() {
        isWanted = true
        bytes = nil
    }

    /// - Returns: what was read from the connection that was closed since `begin`; nil for nothing.
    func end() -> [UInt8]? {
        isWanted = false
        return bytes
    }

    func close(_ socket: Int32) {
        open.remove(socket)
        defer { _ = Glibc.close(socket) }
        guard isWanted else { return }
        // Of several connections the last one counts, even if it is silent.
        bytes = nil
        var buffer = [UInt8](repeating: 0, count: Self.limit)
        let count = unsafe recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { bytes = Array(buffer[..<count]) }
    }
}

enum SocketState {
    /// Whether reading would give something at once, even if that is only the end.
    static func hasInput(_ socket: Int32) -> Bool {
        var one = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&one, 1, 0) > 0
    }
}
