import Foundation
import HTTPTypes
import Hummingbird

/// The form of all JSON answers: `data` or `error`, and `meta`. The names of members become `snake_case`.
struct Envelope<Content: Encodable>: Encodable {
    struct Meta: Encodable {
        let requestID: String
        let timestamp: String
    }

    struct Failure: Encodable {
        let code: String
        let message: String
    }

    var data: Content?
    var error: Failure?
    let meta: Meta

    static func answer(
        _ status: HTTPResponse.Status, data: Content? = nil, error: Failure? = nil, _ context: ReceiverContext
    ) throws -> Response {
        let meta = Meta(requestID: context.requestID, timestamp: UnixTime.text(UnixTime.now))
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes = try encoder.encode(Envelope(data: data, error: error, meta: meta)) + Data("\n".utf8)
        return Response(
            status: status, headers: [.contentType: "application/json", .requestID: context.requestID],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension APIError {
    func response(_ context: ReceiverContext) throws -> Response {
        var response = try Envelope<[String: String]>.answer(
            status, error: .init(code: code, message: message), context)
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        return response
    }
}
