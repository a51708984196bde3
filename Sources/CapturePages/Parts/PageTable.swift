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
