import CaptureNative
import CurlClient
import QueueModel

/// Signs requests to one S3-compatible store and sends them (Spec/queue.md section 12). Only one thread at a time uses
/// it.
final class S3Exchange {
    private static let emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    let connections: HTTPExchange
    private let settings: S3Settings
    /// The server's clock minus ours in milliseconds, learnt when the server refuses the time of a signature.
    private var offset = 0

    init(_ settings: S3Settings) {
        self.settings = settings
        connections = HTTPExchange(settings.connection, .s3)
    }

    /// Signs and sends a request. If the store says that the time is wrong, the request is repeated once with its time.
    ///
    /// - Parameter contentHash: the SHA-256 of the body in hex.
    func perform(
        _ request: HTTPRequest, contentHash: String, _ control: SendControl
    ) throws(SendTrouble) -> HTTPEnd {
        let credentials = try S3Credentials.find(settings)
        var request = request
        request.add(settings.connection.own)
        var round = 0
        while true {
            defer { round += 1 }
            let signer = SigV4(
                credentials: credentials, region: S3Credentials.region(settings),
                now: WallClock.milliseconds + offset)
            let signed: HTTPRequest
            do throws(NativeError) {
                signed = try signer.signed(request, contentHash: contentHash)
            } catch {
                throw SendTrouble(message: error.description)
            }
            let end = connections.perform(signed, carriesCredentials: true, control)
            guard end.kind == .again, round == 0, request.body?.rewind() ?? true else { return end }
            let now = WallClock.milliseconds
            if let server = end.answer?["date"].flatMap({ HTTPDate.milliseconds($0, now: now) }) {
                offset = server - now
            }
        }
    }

    /// Signs and sends a request without a body.
    func perform(
        _ method: HTTPRequest.Method, _ address: WebAddress, _ headers: [HTTPRequest.Header], _ control: SendControl,
        _ sink: ((Span<UInt8>) -> Bool)? = nil
    ) throws(SendTrouble) -> HTTPEnd {
        var request = HTTPRequest(method, address)
        request.headers = headers
        request.sink = sink
        return try perform(request, contentHash: Self.emptyHash, control)
    }
}
