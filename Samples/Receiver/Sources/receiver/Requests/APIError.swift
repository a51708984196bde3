import Hummingbird

/// A refusal of a request, as the API answers it.
struct APIError: Error {
    let status: HTTPResponse.Status
    /// The code of the upload contract.
    let code: String
    let message: String

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    static func validation(_ message: String) -> APIError { APIError(.badRequest, "VALIDATION_ERROR", message) }

    static func tooLarge(_ message: String) -> APIError { APIError(.contentTooLarge, "PAYLOAD_TOO_LARGE", message) }

    static let busy = APIError(.serviceUnavailable, "BUSY", "too many bodies are being received at the moment")
    static let internalError = APIError(.internalServerError, "INTERNAL_ERROR", "the receiver failed; its log says why")

    func response(_ context: ReceiverContext) throws -> Response {
        var response = try context.answer(status, ["code": code, "message": message], as: "error")
        if status == .serviceUnavailable { response.headers[.retryAfter] = "5" }
        return response
    }
}
