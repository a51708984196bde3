import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// What belongs to one request.
struct ReceiverContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private let channel: any Channel
    /// The UUID of the client's X-Request-Id, or a new one.
    var requestID: String

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        requestID = UUID().uuidString.lowercased()
    }

    /// Says that the headers were accepted. Only then does the client get `100 Continue`, and the body is read.
    func acceptBody() async throws { try await channel.triggerUserOutboundEvent(BodyAccepted()).get() }
}

extension HTTPField.Name {
    static let requestID = Self.known("X-Request-Id")
    static let deviceID = Self.known("X-Device-Id")
    static let deviceTimestamp = Self.known("X-Device-Timestamp")
    static let deviceSignature = Self.known("X-Device-Signature")
    static let idempotencyKey = Self.known("Idempotency-Key")

    private static func known(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .date }
}
