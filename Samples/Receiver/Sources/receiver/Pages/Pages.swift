import CaptureBundle
import Hummingbird
import Logging

struct Pages: Sendable {
    let shelf: CaptureShelf
    /// The threads that do what each reach allows, so that no page waits for another one that needs more.
    private let threads: [(reach: Reach, threads: PageThreads)]

    init(_ shelf: CaptureShelf) {
        self.shelf = shelf
        threads = [
            (.known, PageThreads(limit: 128)), (.queue, PageThreads(limit: 64)),
            (.destinations, PageThreads(limit: 64)),
        ]
    }

    func stop() async { for (_, threads) in threads { await threads.stop() } }

    /// - Parameter seesAll: Whether readers may see positions and all that may be withheld.
    func addRoutes(to router: Router<ReceiverContext>, seesAll: Bool) {
        router.get("verify/:id") { request, context in
            // The links of the page are relative to its address without a slash at the end.
            guard !request.uri.path.hasSuffix("/") else { return Page.notFound.response() }
            return await answer(context) { id, reach in
                try shelf.shown(id, reach, seesAll: seesAll) { shown, _ in CapturePage(shown: shown).page.response() }
            }
        }
        addPicture("verify/:id/photo.jpg", to: router, seesAll: seesAll) { $0.photo }
        addPicture("verify/:id/depth.jpg", to: router, seesAll: seesAll) { $0.depth }
        router.get("verify/:id/bundle") { _, context in
            await answer(context) { id, reach in
                try shelf.download(id, reach, seesAll: seesAll).map {
                    PageHeaders.download("\(id).bundle", "application/vnd.capture-bundle+tar", $0)
                }
            }
        }
        router.get("verify/:id/stamp.tsr") { _, context in
            await answer(context) { id, _ in
                try shelf.depot.index.stamp(of: id).map {
                    let body = ResponseBody(byteBuffer: ByteBuffer(bytes: $0.bytes))
                    return PageHeaders.download("\(id).bundle.tsr", "application/timestamp-reply", body)
                }
            }
        }
        router.get("verify.html") { _, _ in verifyPageResponse }
    }

    func addPicture(
        _ path: RouterPath, to router: Router<ReceiverContext>, seesAll: Bool,
        _ picture: @escaping @Sendable (ShownCapture) -> PagePicture?
    ) {
        router.get(path) { _, context in
            await answer(context) { id, reach in
                try shelf.shown(id, reach, seesAll: seesAll) { shown, _ in picture(shown)?.response() }
            }
        }
    }

    private var verifyPageResponse: Response {
        guard let page = CompanionFile.verifyPage else { return Page.notFound.response() }
        // The page itself has a policy that allows its own script only.
        let headers = PageHeaders.of("text/html; charset=utf-8", policy: "frame-ancestors 'none'")
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: page)))
    }

    /// Answers a request about the capture that its path names. Every failure becomes a page.
    ///
    /// - Parameter make: Makes the response, on a thread for blocking calls; nil if nothing has this address.
    func answer(
        _ context: ReceiverContext, _ make: @escaping @Sendable (_ id: String, _ reach: Reach) throws -> Response?
    ) async -> Response {
        guard let id = context.parameters.get("id") else { return Page.notFound.response() }
        return await answer(about: id, context.logger) { try make(id, $0) }
    }

    func answer(
        about id: String? = nil, _ logger: Logger, _ make: @escaping @Sendable (_ reach: Reach) throws -> Response?
    ) async -> Response {
        do {
            for (reach, threads) in threads {
                do {
                    return try await threads.run(for: id) { try make(reach) } ?? Page.notFound.response()
                } catch is OutOfReach {}
            }
            return Page.unavailable.response()
        } catch is BundleGone {
            return Page.gone.response()
        } catch is PagesBusy {
            return Page.busy.response()
        } catch {
            logger.error("a page cannot be shown: \(error)")
            return Page.unavailable.response()
        }
    }
}
