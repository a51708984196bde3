import CaptureBundle

/// The beginning and the end of every page. A page is one file: it has no script, and takes nothing from other servers.
public struct PageFrame: Sendable {
    private let kind: HTML
    private let title: String
    private let head: HTML

    /// - Parameters:
    ///   - kind: The value of `data-page`, by which style sheets and programs recognise the page.
    ///   - title: The title of the window.
    ///   - head: More elements of the head.
    public init(_ kind: HTML, title: String, head: HTML = "") {
        (self.kind, self.title, self.head) = (kind, title, head)
    }

    /// The hash of the style sheet for `style-src` in the content security policy of a page, so that browsers apply no
    /// other style.
    public static let styleHash =
        "sha256-\((try? Digest.of(Array(PageStyle.sheet.source.utf8))).map { Base64.encode($0.bytes) } ?? "")"

    /// The first bytes of the pages of a kind.
    package static func mark(_ kind: HTML) -> HTML { "<!doctype html>\n<html lang=\"en\" data-page=\"\(kind)\">\n" }

    /// The markup before the header.
    public var opening: HTML {
        """
        \(Self.mark(kind))<head>
        <meta charset="utf-8">
        \(head)<meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(title)</title>
        <link rel="icon" href="data:,">
        <style>\(PageStyle.sheet)</style>
        </head>
        <body>
        \(Tone.signs)
        """
    }

    /// The markup behind the last section.
    public static func closing(_ footer: [HTML]) -> HTML {
        """
        </main>
        <footer>
        \(footer.map { "<p>\($0)</p>\n" as HTML })</footer>
        </body>
        </html>

        """
    }
}
