import CaptureNative
import CurlClient
import QueueModel

/// Signs requests to one S3-compatible store and sends them (Spec/queue.md section 12). Only one thread at a time uses
/// it.
final class S3Exchange {
    static let emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    let connections: HTTPExchange
    private let settings: S3Settings
    /// Credentials of a command, which serve until they end or are refused.
    private var kept: S3Credentials?

    init(_ settings: S3Settings) {
        self.settings = settings
        connections = HTTPExchange(settings.connection, .s3)
    }

    /// Signs and sends a request. If the store says that the time is wrong, the request is repeated once with its time.
    ///
    /// - Parameter contentHash: the SHA-256 of the body in hex.
    func perform(
        _ request: HTTPRequest, contentHash: String = emptyHash, _ control: SendControl
    ) throws -> HTTPEnd {
        let credentials = try credentials(control)
        let region = S3Credentials.region(settings)
        var request = request
        request.add(settings.connection.own)
        let end = try connections.perform(
            request, token: nil, control,
            prepare: { attempt in
                let signer = SigV4(
                    credentials: credentials, region: region, now: WallClock.milliseconds + connections.clockOffset)
                attempt = try signer.signed(attempt, contentHash: contentHash)
                return true
            },
            onAgain: { end in
                let offset = end.answer?.clockOffset(now: WallClock.milliseconds)
                if let offset { connections.clockOffset = offset }
            })
        if end.kind == .credentials { kept = nil }
        return end
    }

    private func credentials(_ control: SendControl) throws -> S3Credentials {
        // Those that end within a minute are replaced.
        if let kept, let end = kept.end, end - 60_000 > WallClock.milliseconds { return kept }
        let found = try S3Credentials.find(settings, control)
        kept = found.end == nil ? nil : found
        return found
    }
}
