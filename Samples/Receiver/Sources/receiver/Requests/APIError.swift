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

    func response(_ context: ReceiverContext) throws -> Response {
        // Queues show this message and not the id.
        let message = isFault ? "\(message); the receiver's log says why, under \(context.requestID)" : message
        var response = try context.answer(status, ["code": code, "message": message], as: "error")
        if status == .serviceUnavailable { response.headers[.retryAfter] = "\(isFault ? 30 : 5)" }
        return response
    }
}

extension APIError {
    /// The request's own bytes led to a failure, so the same request again would fail too.
    static let internalError = APIError(
        .internalServerError, "INTERNAL_ERROR", "the receiver failed on this request")

    /// The receiver cannot do what it does for every request: because of its disk, its database, its devices, or another
    /// program that keeps it from working. The same request can succeed later.
    static let unavailable = APIError(
        .serviceUnavailable, "STORE_UNAVAILABLE", "the receiver cannot do this now")

    static let storageFull = APIError(
        HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage"), "STORAGE_FULL", "the disk is full")

    static let stopping = APIError(.serviceUnavailable, "STOPPING", "the receiver is being stopped")

    /// Whether the operator has to look at the log. A receiver that is busy or stops is not worth a line for each request.
    var isFault: Bool { status.kind == .serverError && ![Self.busy.code, Self.stopping.code].contains(code) }
}
