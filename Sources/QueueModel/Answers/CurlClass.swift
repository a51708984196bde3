extension AnswerClass {
    /// The class of a transfer that ended without an answer (Spec/upload.md section 4.5).
    ///
    /// - Parameter code: libcurl's, `CURLE_…`.
    /// - Parameter wasConnected: there was a connection before it failed.
    /// - Parameter wasSentWhole: the last byte of the body was handed to it.
    package static func ofCurl(_ code: Int, wasConnected: Bool, wasSentWhole: Bool) -> AnswerClass {
        switch code {
        // No name, no address, no route, no QUIC: nobody is there.
        case 5, 6, 7, 45, 89, 96, 97: .offline
        // A time that is over, a handshake that broke off.
        case 28 where !wasConnected, 35 where !wasConnected: .offline
        // The handshake, certificates and keys of either side.
        case 35, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98: .tls
        // What is no URL of ours, and redirects without end.
        case 1 where !wasConnected, 3, 4, 9, 47: .endpoint
        // Memory, files, options, a callback that failed.
        case 2, 26, 37, 41, 43, 48, 65, 81, 93: .local
        // A callback of ours said so.
        case 42: .stopped
        // The connection broke, or what came over it was no answer (1: no HTTP at all, 27: too
        // much of it).
        case 1, 8, 16, 18, 23, 27, 28, 52, 55, 56, 61, 63, 92, 95, 99: wasSentWhole ? .unclear : .retry
        default: .retry
        }
    }
}
