import CaptureBundle
package import QueueModel
import Synchronization

/// Makes transports, and keeps what those of one destination share.
package final class TransportShares: Sendable {
    private struct Shares {
        var servers: [Destination: CaptureAPIShared] = [:]
        var tokens: [Destination: TokenSource] = [:]
        var unproven: [Destination: UnprovenCaptures] = [:]
        /// Secret files that were warned of already.
        var warned: Set<[UInt8]> = []
    }

    private let shares = Mutex(Shares())

    package init() {}

    /// - Parameter warn: for what the user should know, and which stops nothing.
    /// - Throws: `queue.record` for a kind or settings that none of our versions writes.
    package func make(_ destination: Destination, warn: @escaping (String) -> Void) throws -> any UploadTransport {
        for fault in destination.openSecrets {
            let file = Array((fault.file ?? "").utf8)
            guard shares.withLock({ $0.warned.insert(file).inserted }) else { continue }
            warn(([fault.description] + fault.hints).joined(separator: "; "))
        }
        switch Destination.Kind(rawValue: destination.kind) {
        case .folder: return try FolderTransport(destination)
        case .http:
            let shared = shares.withLock { shares in
                let known = shares.servers[destination] ?? CaptureAPIShared(destination)
                shares.servers[destination] = known
                return known
            }
            return CaptureAPITransport(destination, shared)
        case .put:
            let (tokens, unproven) = shares.withLock { shares in
                let tokens = shares.tokens[destination] ?? TokenSource(destination)
                let unproven = shares.unproven[destination] ?? UnprovenCaptures(destination)
                (shares.tokens[destination], shares.unproven[destination]) = (tokens, unproven)
                return (tokens, unproven)
            }
            return PutTransport(destination, tokens, unproven, warn)
        case .s3: return S3Transport(destination)
        case nil: throw QueueError.corruptRecord("a destination of the kind \(destination.kind)")
        }
    }
}
