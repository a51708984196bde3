import CaptureBundle
import HTTPTypes
import Hummingbird
import HummingbirdCore

/// The operator's pages: a list of all captures with a search, and the page of each capture with all that it has.
struct OperatorPages: Sendable {
    let pages: Pages
    let token: OperatorToken

    /// Adds the pages to the router of the operator's own port.
    func addRoutes(to router: Router<ReceiverContext>) {
        router.addMiddleware { OperatorGate(token: token) }
        router.get("/") { request, context in
            let search = CaptureSearch(request.uri.queryParameters)
            return await pages.answer(context.logger) { _ in try CaptureListPage(search, pages.shelf).page.response() }
        }
        pages.addPicture("thumbnails/:id", to: router, seesAll: true) { $0.checked.thumbnail }
        pages.addRoutes(to: router, seesAll: true)
    }
}

/// Lets only requests with the operator's token through.
private struct OperatorGate: RouterMiddleware {
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

struct CaptureSearch: Sendable {
    /// A day of the claimed time in UTC, such as `2026-03-14`; nil for all.
    let day: String?
    /// The UUID of a device; nil for all.
    let device: String?
    let verdict: Verdict?
    /// Only captures with a smaller number; nil for the newest.
    let before: Int?

    enum Verdict: String, CaseIterable { case verified, revoked }

    /// Reads the parameters of a query. A parameter in a wrong form is ignored.
    init(_ query: FlatDictionary<Substring, Substring>) {
        func text(_ name: String) -> String? { query[Substring(name)].map { String($0) } }
        day = text("day").flatMap { CaptureTime("\($0)T00:00:00Z") == nil ? nil : $0 }
        device = text("device").flatMap { RequestSignature.isDeviceID($0) ? $0 : nil }
        verdict = text("verdict").flatMap(Verdict.init)
        before = text("before").flatMap { Int($0) }
    }

    /// The query of the page with older captures.
    func query(before number: Int) -> String {
        let parts = [
            day.map { "day=\($0)" }, device.map { "device=\($0)" }, verdict.map { "verdict=\($0.rawValue)" },
            "before=\(number)",
        ]
        return parts.compactMap(\.self).joined(separator: "&")
    }

    var isEmpty: Bool { day == nil && device == nil && verdict == nil }
}
