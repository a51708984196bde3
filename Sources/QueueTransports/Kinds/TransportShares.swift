package import CaptureBundle
import CaptureNative
package import QueueModel
import Synchronization
import SystemPackage

/// Makes transports, and keeps the state that all transports of one destination share.
package final class TransportShares: Sendable {
    private let shares = Mutex<[Destination: DestinationShare]>([:])
    /// Secret files about which the user was warned.
    private let warned = Mutex<Set<[UInt8]>>([])
    private let signers: RequestSigners

    package init(_ signers: RequestSigners) { self.signers = signers }

    /// - Parameter warn: gets problems that the user should know but that do not stop the transfer.
    package func make(_ destination: Destination, warn: @escaping (String) -> Void) -> any UploadTransport {
        for fault in destination.openSecrets {
            let file = Array((fault.file ?? "").utf8)
            guard warned.withLock({ $0.insert(file).inserted }) else { continue }
            warn("\(fault); chmod 600 \(ShellWord.quote(FilePath(fault.file ?? "")))")
        }
        do throws(QueueError) {
            try destination.settings.check()
            return try transport(destination, warn)
        } catch {
            return UnusableTransport(error)
        }
    }

    private func transport(
        _ destination: Destination, _ warn: @escaping (String) -> Void
    ) throws(QueueError) -> any UploadTransport {
        switch destination.settings {
        case .folder(let folder): try FolderTransport(folder)
        case .http(let http):
            CaptureAPITransport(
                settings: http, shared: share(destination, http.token), exchange: HTTPExchange(http.connection, .http),
                warn: warn)
        case .put(let put): PutTransport(put, share(destination, put.token), warn)
        case .s3(let s3):
            S3Transport(settings: s3, exchange: S3Exchange(s3), known: share(destination, nil).digests, warn: warn)
        case .unusable(_, _, let fault): throw fault
        }
    }

    private func share(_ destination: Destination, _ token: TokenSettings?) -> DestinationShare {
        shares.withLock { shares in
            let known = shares[destination] ?? DestinationShare(destination.digests, token, signers)
            shares[destination] = known
            return known
        }
    }
}

/// A destination whose settings cannot be used. It is blocked, and the other destinations are not.
struct UnusableTransport: UploadTransport {
    private let block: Block

    init(_ fault: QueueError) {
        block = Block(.local, "its settings cannot be used: \(fault.message)", cause: .unusable)
    }

    var absence: Block? { block }

    func send(_ job: SendJob, _ control: SendControl) -> SendOutcome { .blocked(block) }

    func poll(_ job: SendJob, _ control: SendControl) -> SendOutcome { .blocked(block) }

    func confirm(_ job: SendJob, _ control: SendControl) -> RemoteState { .unknown(block.message) }

    func fetch(_ job: SendJob, into target: FileHandle, _ control: SendControl) -> String? { block.message }

    func notify(_ session: String, key: String, body: [UInt8], _ control: SendControl) throws -> String {
        throw SendOutcome.blocked(block)
    }

    func test(_ control: SendControl) -> DestinationTest { DestinationTest(block: block) }
}
