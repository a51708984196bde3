extension AnswerClass {
    /// Returns the class of a transfer that ended without an answer (Spec/upload.md section 4.5).
    ///
    /// - Parameter code: libcurl's code (`CURLE_…`).
    /// - Parameter wasConnected: whether there was a connection before the failure.
    /// - Parameter wasSentWhole: whether the last byte of the body was handed to the connection.
    /// - Parameter wasSilent: whether the other side closed the connection before it said anything.
    package static func ofCurl(
        _ code: Int, wasConnected: Bool, wasSentWhole: Bool, wasSilent: Bool = false
    ) -> AnswerClass {
        switch code {
        // The name does not resolve, there is no route, or QUIC fails: the server cannot be reached.
        case 5, 6, 7, 45, 89, 96, 97: .offline
        // The time ran out, or the handshake broke off, before there was a connection.
        case 28 where !wasConnected, 35 where !wasConnected: .offline
        // Nobody is behind the port.
        case 35 where wasSilent: .outage
        // The TLS handshake failed, or a certificate or key of either side was refused.
        case 35, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98: .tls
        // The URL cannot be used, or the redirects do not end.
        case 1 where !wasConnected, 3, 4, 9, 47: .endpoint
        // Memory, a file, an option or a callback failed.
        case 2, 26, 37, 41, 43, 48, 65, 81, 93: .local
        // One of our callbacks stopped the transfer.
        case 42: .stopped
        // The answer is not HTTP, so somebody else than the server gave it.
        case 1, 8: .outage
        // The connection broke, or the answer was invalid (27: it is too large).
        case 16, 18, 23, 27, 28, 52, 55, 56, 61, 63, 92, 95, 99: wasSentWhole ? .unclear : .retry
        default: .retry
        }
    }
}
