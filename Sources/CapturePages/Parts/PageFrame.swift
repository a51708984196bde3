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

/// Makes a table with a caption. It scrolls inside its frame if it is too wide or too long.
public struct PageTable: Sendable {
    public struct Column: Sendable {
        let name: String
        let isNumber: Bool

        public init(_ name: String, isNumber: Bool = false) {
            self.name = name
            self.isNumber = isNumber
        }
    }

    private let caption: String
    private let columns: [Column]

    public init(_ caption: String, _ columns: [Column]) {
        self.caption = caption
        self.columns = columns
    }

    /// The markup before the rows.
    public var opening: HTML {
        """
        <div class="scroll" role="region" tabindex="0" aria-label="\(caption)">
        <table>
        <caption>\(caption)</caption>
        <thead><tr>\(columns.map(heading))</tr></thead>
        <tbody>

        """
    }

    private func heading(_ column: Column) -> HTML {
        column.isNumber
            ? "<th scope=\"col\" class=\"number\">\(column.name)</th>" : "<th scope=\"col\">\(column.name)</th>"
    }

    /// A row. Its first cell is its heading.
    private func row(_ cells: [HTML]) -> HTML { "<tr><th scope=\"row\">\(cells.first)</th>\(rest(cells))</tr>\n" }

    /// A row without the opening tags of its first cell and the link in it. They are written later, when the card that
    /// the link leads to is known.
    package func linked(_ cells: [HTML]) -> HTML { "\(cells.first)</a></th>\(rest(cells))</tr>\n" }

    private func rest(_ cells: [HTML]) -> [HTML] {
        zip(columns, cells).dropFirst().map { column, cell in
            column.isNumber ? "<td class=\"number\">\(cell)</td>" : "<td>\(cell)</td>"
        }
    }

    public static let closing: HTML = "</tbody>\n</table>\n</div>\n"

    package func html(_ rows: [[HTML]]) -> HTML { "\(opening)\(rows.map(row))\(Self.closing)" }
}
