import HTTPTypes

/// A refusal of a request, as the API answers it.
struct APIError: Error {
    let status: HTTPResponse.Status
    /// The code of the upload contract.
    let code: String
    let message: String
    /// The number of seconds after which the client should try again; nil for no such advice.
    var retryAfter: Int?

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String, retryAfter: Int? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    static func validation(_ message: String) -> APIError { APIError(.badRequest, "VALIDATION_ERROR", message) }

    static func tooLarge(_ message: String) -> APIError { APIError(.contentTooLarge, "PAYLOAD_TOO_LARGE", message) }

    static let notFound = APIError(.notFound, "NOT_FOUND", "no such resource")
    static let captureNotFound = APIError(.notFound, "CAPTURE_NOT_FOUND", "no capture has this id")
    static let tooSlow = APIError(.requestTimeout, "REQUEST_TIMEOUT", "the body arrived too slowly")
    static let storageFull = APIError(
        HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage"), "STORAGE_FULL", "the disk is full")
    static let busy = APIError(
        .serviceUnavailable, "BUSY", "too many bodies are being received at the moment", retryAfter: 5)
    static let storeUnavailable = APIError(
        .serviceUnavailable, "STORE_UNAVAILABLE", "the list of devices cannot be read at the moment", retryAfter: 10)
    static let stopping = APIError(
        .serviceUnavailable, "STOPPING", "the receiver is being stopped", retryAfter: 5)
    static let internalError = APIError(.internalServerError, "INTERNAL_ERROR", "the receiver failed; its log says why")
}
