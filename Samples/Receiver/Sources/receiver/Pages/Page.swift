import CapturePages
import HTTPTypes
import Hummingbird

struct Page: Sendable {
    let title: String
    let content: HTML
    var footer: [HTML] = ["A receiver of signed captures."]
    var status = HTTPResponse.Status.ok
    /// Whether the page has a form that asks this server.
    var hasForm = false

    func response() -> Response {
        let html: HTML = """
            \(PageFrame("capture", title: title).opening)<header><p class="lead">Capture receiver</p></header>
            <main>
            \(content)\(PageFrame.closing(footer))
            """
        let policy =
            "default-src 'none'; img-src 'self' data:; style-src '\(PageFrame.styleHash)'; base-uri 'none'; "
            + "form-action \(hasForm ? "'self'" : "'none'"); frame-ancestors 'none'"
        var headers = PageHeaders.of("text/html; charset=utf-8", policy: policy)
        if status == .serviceUnavailable { headers[.retryAfter] = "10" }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: html.source)))
    }

    /// A page with only a message.
    static func message(_ status: HTTPResponse.Status, _ title: String, _ text: String) -> Page {
        Page(title: title, content: "<h1>\(title)</h1>\n<p>\(text)</p>\n", status: status)
    }

    static let notFound = message(
        .notFound, "No such capture",
        "This receiver has no capture with this address. Check that the whole link was copied.")
    static let busy = message(
        .serviceUnavailable, "Too many readers at the moment", "Please load this page again in a few seconds.")
    static let unavailable = message(
        .serviceUnavailable, "The capture cannot be read at the moment",
        "The receiver accepted this capture, but cannot read its bytes or its device now. Please try again later. If that does "
            + "not help, ask the operator: the log says why.")
    static let gone = message(
        .gone, "The capture is gone",
        "The receiver accepted this capture, but has no copy any more: it was deleted or lost before it was passed on.")
}

enum PageHeaders {
    static func of(_ type: String, policy: String = "default-src 'none'; frame-ancestors 'none'") -> HTTPFields {
        [
            .contentType: type, .contentSecurityPolicy: policy, .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
            .known("Referrer-Policy"): "no-referrer", .known("Cross-Origin-Opener-Policy"): "same-origin",
            .crossOriginResourcePolicy: "same-origin", .known("X-Robots-Tag"): "noindex",
        ]
    }

    /// - Parameter name: The name of the file, which contains only letters, digits, `-` and `.`.
    static func download(_ name: String, _ type: String, _ body: ResponseBody) -> Response {
        var headers = of(type, policy: "default-src 'none'; frame-ancestors 'none'; sandbox")
        headers[.contentDisposition] = "attachment; filename=\"\(name)\""
        return Response(status: .ok, headers: headers, body: body)
    }
}
