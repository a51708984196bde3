import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

struct ReceiverContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private let channel: any Channel
    /// The UUID of the client's X-Request-Id, or a new one. It is in the answer, and in the log lines about the request.
    var requestID: String { didSet { nameRequest() } }

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        requestID = UUID().uuidString.lowercased()
        nameRequest()
    }

    /// Puts the id in the place of Hummingbird's own.
    private mutating func nameRequest() { logger[metadataKey: "hb.request.id"] = "\(requestID)" }

    /// Says that the headers were accepted. Only then does the client get `100 Continue`, and the body is read.
    func acceptBody() async throws { try await channel.triggerUserOutboundEvent(BodyAccepted()).get() }

    /// Ends the body with 503, if it has not arrived yet.
    func giveUpBody() { channel.triggerUserOutboundEvent(BodyGivenUp(), promise: nil) }

    /// Answers with JSON, whose form is always the same: `data` or `error`, and `meta`.
    func answer(_ status: HTTPResponse.Status, _ content: [String: Any], as name: String = "data") throws -> Response {
        let meta = ["request_id": requestID, "timestamp": UnixTime.text(UnixTime.now)]
        let json = try JSONSerialization.data(
            withJSONObject: [name: content, "meta": meta], options: [.sortedKeys, .withoutEscapingSlashes])
        return Response(
            status: status, headers: [.contentType: "application/json", .requestID: requestID],
            body: .init(byteBuffer: ByteBuffer(bytes: json + Data("\n".utf8))))
    }

    /// The client's address. If a proxy on this machine sent the request, it is taken from X-Forwarded-For. For IPv6, only
    /// the first four groups: one client has all addresses of such a network.
    func address(of request: Request) -> String {
        var address = channel.remoteAddress?.ipAddress ?? ""
        if address == "::1" || address.hasPrefix("127."), let named = request.headers[values: .forwardedFor].last {
            address = named.components(separatedBy: ",").last?.trimmingCharacters(in: .whitespaces) ?? ""
        }
        guard !address.utf8.contains(UInt8(ascii: ".")) else { return address.components(separatedBy: ":").last ?? "" }
        let halves = address.components(separatedBy: "::").map { $0.components(separatedBy: ":") }
        let zeros = Array(repeating: "0", count: max(0, 8 - halves.reduce(0) { $0 + $1.count }))
        return halves.joined(separator: zeros).prefix(4).joined(separator: ":")
    }
}

extension HTTPField.Name {
    static let forwardedFor = Self.known("X-Forwarded-For")
    static let requestID = Self.known("X-Request-Id")
    static let deviceID = Self.known("X-Device-Id")
    static let deviceTimestamp = Self.known("X-Device-Timestamp")
    static let deviceSignature = Self.known("X-Device-Signature")
    static let idempotencyKey = Self.known("Idempotency-Key")

    static func known(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .date }
}
