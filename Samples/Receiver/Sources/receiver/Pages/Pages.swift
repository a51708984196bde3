import CaptureBundle
import HTTPTypes
import Hummingbird
import Logging

/// The pages for people.
struct Pages: Sendable {
    let shelf: CaptureShelf
    private let threads: PageThreads
    /// Read the bundles that the queue has released. A destination that does not answer delays only pages of such bundles.
    private let fetchers: PageThreads
    /// Read the files of downloads, which can be slow.
    let readers: BlockingThreads
    /// The bytes of verify.html; nil if this machine does not have the page.
    let verifyPage: [UInt8]?

    init(_ shelf: CaptureShelf, verifyPage: [UInt8]?, readers: BlockingThreads) {
        self.shelf = shelf
        self.readers = readers
        self.verifyPage = verifyPage
        threads = PageThreads(count: 2, limit: 128)
        fetchers = PageThreads(count: 2, limit: 64)
    }

    func stop() async {
        await threads.stop()
        await fetchers.stop()
    }

    /// Adds the public pages.
    func addRoutes(to router: Router<ReceiverContext>) {
        router.get("verify/:id") { request, context in
            // The links of the page are relative to its address without a slash at the end.
            guard !request.uri.path.hasSuffix("/") else { return Page.notFound.response() }
            return await answer(context) { id, reach in
                try shelf.shown(id, reach).map { CapturePage($0).page.response() }
            }
        }
        router.get("verify/:id/photo.jpg") { _, context in
            await answer(context) { id, reach in try shelf.pictures(id, reach)?.photo?.response() }
        }
        router.get("verify/:id/depth.jpg") { _, context in
            await answer(context) { id, reach in try shelf.pictures(id, reach)?.depth?.response() }
        }
        router.get("verify/:id/bundle") { _, context in
            await answer(context) { id, reach in
                try shelf.download(id, reach).map { content in
                    Response(status: .ok, headers: PageHeaders.download("\(id).bundle"), body: content.body(readers))
                }
            }
        }
        router.get("verify.html") { _, _ in verifyPageResponse }
    }

    private var verifyPageResponse: Response {
        guard let verifyPage else { return Page.notFound.response() }
        var headers = PageHeaders.common
        headers[.contentType] = "text/html; charset=utf-8"
        // The page itself has a policy that allows its own script only.
        headers[.contentSecurityPolicy] = "frame-ancestors 'none'"
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: verifyPage)))
    }

    /// Answers a request about the capture that its path names. Every failure becomes a page.
    ///
    /// - Parameter make: Makes the response, on a thread for blocking calls; nil if nothing has this address.
    func answer(
        _ context: ReceiverContext, _ make: @escaping @Sendable (_ id: String, _ reach: Reach) throws -> Response?
    ) async -> Response {
        guard let id = context.parameters.get("id"), Self.canBeCapture(id) else { return Page.notFound.response() }
        return await answer(context.logger) { try make(id, $0) }
    }

    /// Whether a text has only characters of capture ids: a UUID, and a number if the queue has other bytes of the same
    /// capture, such as a copy without its place.
    private static func canBeCapture(_ text: String) -> Bool {
        text.utf8.count <= 50 && text.utf8.allSatisfy { "0123456789abcdef-.".utf8.contains($0) }
    }

    func answer(_ logger: Logger, _ make: @escaping @Sendable (_ reach: Reach) throws -> Response?) async -> Response {
        do {
            do {
                return try await threads.run { try make(.queue) } ?? Page.notFound.response()
            } catch is BundleElsewhere {
                return try await fetchers.run { try make(.destinations) } ?? Page.notFound.response()
            }
        } catch is BundleGone {
            return Page.gone.response()
        } catch is PagesBusy {
            return Page.busy.response()
        } catch let error where error is BundleUnavailable || error is StoreUnavailable {
            logger.warning("a page cannot be shown: \(error)")
            return Page.unavailable.response()
        } catch {
            logger.error("a page failed: \(error)")
            return Page.failed.response()
        }
    }
}
