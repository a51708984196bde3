import CaptureBundle
import CaptureQueue
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import QueueModel
import SystemPackage

/// Turns every error into an answer of the API, and counts the answers. Details of our own failures go to the log only.
struct AnswerErrors: RouterMiddleware {
    var metrics: Metrics?

    func handle(
        _ request: Request, context: ReceiverContext,
        next: (Request, ReceiverContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        if let given = request.headers[.requestID], RequestSignature.isDeviceID(given) { context.requestID = given }
        let response: Response
        do { response = try await next(request, context) } catch {
            let refusal = Self.refusal(error)
            // A receiver that is busy or stops is not worth a line for each request.
            let isTemporary = refusal.status == .serviceUnavailable && !(error is Unavailable)
            if refusal.status.kind == .serverError && !isTemporary {
                context.logger.error("\(request.method) \(request.uri.path): \(refusal.code): \(error)")
            }
            response = try refusal.response(context)
        }
        metrics?.count(request, response)
        return response
    }

    private static func refusal(_ error: any Error) -> APIError {
        switch error {
        case let error as APIError: error
        case is BodyTooSlow: APIError(.requestTimeout, "REQUEST_TIMEOUT", "the body arrived too slowly")
        case is HTTPParserError, is ChannelError, is IOError:
            .validation("the request is not well-formed HTTP, or the connection broke")
        case is Unavailable:
            APIError(.serviceUnavailable, "STORE_UNAVAILABLE", "the list of devices cannot be read at the moment")
        case let error as QueueError where error.isDiskFull || error.code == .quota || error.code == .freeDisk:
            storageFull
        case let error as BundleError where error.isDiskFull: storageFull
        case let error as IndexFault where error.isDiskFull: storageFull
        case Errno.noSpace, Errno.diskQuotaExceeded: storageFull
        case let error as HTTPError where error.status == .notFound:
            APIError(.notFound, "NOT_FOUND", "no such resource")
        case let error as HTTPError: APIError(error.status, "VALIDATION_ERROR", error.status.reasonPhrase)
        case is NIOThreadPoolError.ThreadPoolInactive, is CancellationError:
            APIError(.serviceUnavailable, "STOPPING", "the receiver is being stopped")
        default: .internalError
        }
    }

    private static let storageFull = APIError(
        HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage"), "STORAGE_FULL", "the disk is full")
}
