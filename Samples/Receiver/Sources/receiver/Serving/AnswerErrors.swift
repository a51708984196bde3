import CaptureBundle
import CaptureQueue
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import QueueModel
import SystemPackage

/// Turns every error into an answer of the API, and counts the answers. Details of our own failures go to the log only,
/// with the id that the answer has.
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
            if refusal.isFault {
                context.logger.error("\(request.method) \(request.uri.path): \(refusal.code): \(error)")
            }
            response = try refusal.response(context)
        }
        metrics?.count(request, response)
        return response
    }

    /// What is not known to be the fault of the request is taken for the receiver's own, so that no device gives up a
    /// capture because of it.
    private static func refusal(_ error: any Error) -> APIError {
        switch error {
        case let error as APIError: error
        case is BodyTooSlow: APIError(.requestTimeout, "REQUEST_TIMEOUT", "the body arrived too slowly")
        case is HTTPParserError, is ChannelError:
            .validation("the request is not well-formed HTTP, or the connection broke")
        case let error as IOError where brokenConnection.contains(Errno(rawValue: error.errnoCode)):
            .validation("the connection broke")
        case let error as HTTPError where error.status == .notFound:
            APIError(.notFound, "NOT_FOUND", "no such resource")
        case let error as HTTPError: APIError(error.status, "VALIDATION_ERROR", error.status.reasonPhrase)
        case is NIOThreadPoolError.ThreadPoolInactive, is CancellationError: .stopping
        // A verdict on the bundle that its report did not have.
        case let error as BundleError where error.verdict != nil: .internalError
        default: isOfFullDisk(error) ? .storageFull : .unavailable
        }
    }

    private static let brokenConnection: Set<Errno> = [.connectionReset, .brokenPipe, .timedOut]

    private static func isOfFullDisk(_ error: any Error) -> Bool {
        switch error {
        case let error as QueueError: error.isDiskFull || error.code == .quota || error.code == .freeDisk
        case let error as BundleError: error.cause == .diskFull
        case let error as IndexFault: error.isDiskFull
        case CocoaError.fileWriteOutOfSpace: true
        default: false
        }
    }
}
