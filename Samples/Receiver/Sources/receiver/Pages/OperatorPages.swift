import Hummingbird

/// The operator's pages: a list of all captures with a search, and the page of each capture with all that it has.
extension Pages {
    func addOperatorRoutes(to router: Router<ReceiverContext>) {
        router.get("/") { request, context in
            let search = CaptureSearch(request.uri.queryParameters)
            return await answer(context.logger) { _ in try CaptureListPage(search, shelf.depot).page.response() }
        }
        addPicture("thumbnails/:id", to: router, seesAll: true) { $0.checked.thumbnail }
        addRoutes(to: router, seesAll: true)
    }
}

/// Lets only requests with the operator's token through.
struct OperatorGate: RouterMiddleware {
    let token: OperatorToken

    func handle(
        _ request: Request, context: ReceiverContext,
        next: (Request, ReceiverContext) async throws -> Response
    ) async throws -> Response {
        let given = request.uri.path == "/" ? request.uri.queryParameters["token"] : nil
        if let given { return open(with: String(given)) }
        guard request.cookies[token.cookieName].map({ token.accepts($0.value) }) ?? false else {
            return Self.closed(.unauthorized)
        }
        return try await next(request, context)
    }

    /// Exchanges the token of the printed address for a cookie, so that it does not stay in the address.
    private func open(with given: String) -> Response {
        guard token.accepts(given) else { return Self.closed(.forbidden) }
        var response = Response(status: .seeOther, headers: PageHeaders.of("text/plain"))
        response.headers[.location] = "/"
        response.setCookie(
            Cookie(name: token.cookieName, value: token.text, path: "/", httpOnly: true, sameSite: .strict))
        return response
    }

    private static func closed(_ status: HTTPResponse.Status) -> Response {
        Page.message(
            status, "These pages are for the operator",
            "Open the address that the receiver printed when it started. It contains the operator's token."
        ).response()
    }
}
