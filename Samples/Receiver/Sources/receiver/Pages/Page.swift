import HTTPTypes
import Hummingbird

/// A whole page. It has no script, and takes nothing from other servers.
struct Page: Sendable {
    let title: String
    /// What is in the main part of the page.
    let content: HTML
    var footer: HTML = "<p>A receiver of signed captures.</p>\n"
    var status = HTTPResponse.Status.ok
    /// Whether the page has a form that asks this server.
    var hasForm = false

    private var html: HTML {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(title)</title>
        <link rel="icon" href="data:,">
        <style>\(PageStyle.sheet)</style>
        </head>
        <body>
        \(Tone.signs)<header><p>Capture receiver</p></header>
        <main>
        \(content)</main>
        <footer>
        \(footer)</footer>
        </body>
        </html>

        """
    }

    func response() -> Response {
        var headers = PageHeaders.common
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.cacheControl] = "no-store"
        headers[.contentSecurityPolicy] =
            "default-src 'none'; img-src 'self' data:; style-src \(PageStyle.source); base-uri 'none'; "
            + "form-action \(hasForm ? "'self'" : "'none'"); frame-ancestors 'none'"
        if status == .serviceUnavailable { headers[.retryAfter] = "10" }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: html.source)))
    }

    /// A page with only a message.
    static func message(_ status: HTTPResponse.Status, _ title: String, _ text: String) -> Page {
        let content: HTML = """
            <h1>\(title)</h1>
            <p>\(text)</p>

            """
        return Page(title: title, content: content, status: status)
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
    static let failed = message(
        .internalServerError, "The receiver failed", "Its log says why. Please tell the operator.")
}

/// The headers of pages, pictures and downloads.
enum PageHeaders {
    static let common: HTTPFields = [
        .contentTypeOptions: "nosniff", .referrerPolicy: "no-referrer", .crossOriginOpenerPolicy: "same-origin",
        .crossOriginResourcePolicy: "same-origin", .robots: "noindex",
    ]

    static let picture: HTTPFields = {
        var headers = common
        headers[.contentType] = "image/jpeg"
        // A capture never changes, so neither do its pictures.
        headers[.cacheControl] = "private, max-age=86400, immutable"
        headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'"
        return headers
    }()

    /// - Parameter name: The name of the file, which contains only letters, digits, `-` and `.`.
    static func download(_ name: String) -> HTTPFields {
        var headers = common
        headers[.contentType] = "application/vnd.capture-bundle+tar"
        headers[.contentDisposition] = "attachment; filename=\"\(name)\""
        headers[.cacheControl] = "no-store"
        headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'; sandbox"
        return headers
    }
}

extension HTTPField.Name {
    fileprivate static let contentTypeOptions = known("X-Content-Type-Options")
    fileprivate static let referrerPolicy = known("Referrer-Policy")
    fileprivate static let crossOriginOpenerPolicy = known("Cross-Origin-Opener-Policy")
    fileprivate static let robots = known("X-Robots-Tag")

    private static func known(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .server }
}
