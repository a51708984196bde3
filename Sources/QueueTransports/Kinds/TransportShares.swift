package import CaptureBundle
package import QueueModel
import Synchronization

/// Makes transports, and keeps the state that all transports of one destination share.
package final class TransportShares: Sendable {
    private struct Shares {
        var servers: [Destination: CaptureAPIShared] = [:]
        var tokens: [Destination: TokenSource] = [:]
        /// Secret files about which the user was warned.
        var warned: Set<[UInt8]> = []
    }

    private let shares = Mutex(Shares())

    private let signers: RequestSigners

    package init(_ signers: RequestSigners) { self.signers = signers }

    /// - Parameter warn: gets problems that the user should know but that do not stop the transfer.
    package func make(_ destination: Destination, warn: @escaping (String) -> Void) -> any UploadTransport {
        for fault in destination.openSecrets {
            let file = Array((fault.file ?? "").utf8)
            guard shares.withLock({ $0.warned.insert(file).inserted }) else { continue }
            warn(([fault.description] + fault.hints.compactMap(\.words)).joined(separator: "; "))
        }
        do throws(QueueError) {
            try destination.settings.check()
            return try transport(destination, warn)
        } catch {
            return UnusableTransport(destination, error)
        }
    }

    private func transport(
        _ destination: Destination, _ warn: @escaping (String) -> Void
    ) throws(QueueError) -> any UploadTransport {
        switch destination.settings {
        case .folder(let folder): return try FolderTransport(folder)
        case .http(let http):
            let shared = shares.withLock { shares in
                let known = shares.servers[destination] ?? CaptureAPIShared(http, signers)
                shares.servers[destination] = known
                return known
            }
            return CaptureAPITransport(http, shared)
        case .put(let put):
            let tokens = shares.withLock { shares in
                let tokens = shares.tokens[destination] ?? put.token.map { TokenSource($0) }
                shares.tokens[destination] = tokens
                return tokens
            }
            return PutTransport(destination.name, put, tokens, warn)
        case .s3(let s3): return S3Transport(destination.name, s3)
        case .unusable(let settings): throw settings.fault
        }
    }
}
