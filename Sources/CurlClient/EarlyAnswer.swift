import Glibc

/// What a server said before it reset the connection: libcurl 7.88 ends with the send that failed and does not read it, and the
/// kernel still has it. Called when a connection is closed. Only of use without TLS: under it these bytes are anybody's.
final class LastWords {
    private var isWanted = false
    private var bytes: [UInt8]?
    private static let limit = 1 << 16

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
        defer { _ = Glibc.close(socket) }
        guard isWanted else { return }
        // Of several connections the last one counts, be it silent.
        bytes = nil
        var buffer = [UInt8](repeating: 0, count: Self.limit)
        let count = unsafe recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { bytes = Array(buffer[..<count]) }
    }
}

enum SocketState {
    /// Whether reading would give something at once, be it the end.
    static func hasInput(_ socket: Int32) -> Bool {
        var one = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&one, 1, 0) > 0
    }
}

/// An answer of HTTP/1 in the bytes of a connection.
enum EarlyAnswer {
    /// - Returns: nil for what is no answer that says no.
    static func parse(_ bytes: [UInt8]) -> (status: Int, headers: [(name: String, value: String)], body: [UInt8])? {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.starts(with: Array("HTTP/1.".utf8)),
            let end = bytes.indices.first(where: { bytes[$0...].starts(with: mark) })
        else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).pieces(by: "\n")
        guard let status = lines.first?.pieces(by: " ").dropFirst().first.flatMap({ Int($0.trimmed) }),
            (300...599).contains(status)
        else { return nil }
        let headers = lines.dropFirst().compactMap { line in
            line.nameAndValue().map { (name: $0.name.lowercased(), value: $0.value) }
        }
        return (status, headers, Array(bytes[(end + mark.count)...]))
    }
}
