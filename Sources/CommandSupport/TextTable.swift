import CaptureBundle

/// A table with aligned columns.
package struct TextTable {
    private var rows: [[String]] = []
    /// The width below which no column is shortened.
    private static let narrowest = 12

    package init() {}

    package mutating func add(_ cells: String...) { rows.append(cells) }

    /// The rows, with two spaces before each row and between columns. The last column is not padded.
    package var lines: [String] { lines(within: nil) }

    /// The rows, shortened to the width of a terminal: the widest cells lose their middle, so that every column is visible.
    ///
    /// - Parameter width: The width of the terminal; nil shortens nothing.
    package func lines(within width: Int?) -> [String] {
        let columns = rows.map(\.count).max() ?? 0
        var widths = (0..<columns).map { column in
            rows.map { column < $0.count ? $0[column].width : 0 }.max() ?? 0
        }
        if let width {
            while widths.reduce(2 * columns, +) > width, let widest = widths.max(), widest > Self.narrowest,
                let index = widths.firstIndex(of: widest)
            {
                widths[index] -= 1
            }
        }
        return rows.map { row in
            let cells = row.enumerated().map { index, cell in
                let cell = cell.withoutMiddle(width: widths[index])
                return index == row.count - 1
                    ? cell : cell + String(repeating: " ", count: max(0, widths[index] - cell.width))
            }
            return "  " + cells.joined(separator: "  ")
        }
    }
}

extension String {
    /// The text in at most `columns` columns. A longer text loses its middle, because words often differ at their ends.
    package func withoutMiddle(width columns: Int) -> String {
        guard width > columns else { return self }
        let scalars = unicodeScalars
        let end = max(0, columns - 1) / 2
        return cut(toWidth: max(0, columns - 1 - end)) + "…" + String(String.UnicodeScalarView(scalars.suffix(end)))
    }
}

/// A line of a table for spreadsheets (RFC 4180), which ends with CR LF.
package struct CSVLine: Sendable {
    package let bytes: [UInt8]

    /// Joins the cells, and quotes those that need it. Control characters become `\u{…}`, so each capture is one line.
    ///
    /// A cell that begins with `=`, `+`, `-` or `@` and is not a number gets an apostrophe in front, because a
    /// spreadsheet would run it as a formula.
    package init(_ cells: [String]) {
        bytes = Array(cells.map(Self.quoted).joined(separator: ",").utf8) + [13, 10]
    }

    private static func quoted(_ cell: String) -> String {
        var text = Visible.text(cell)
        if let first = text.utf8.first, formulaStarts.contains(first), !isNumber(text) { text = "'" + text }
        guard text.utf8.contains(where: { special.contains($0) }) else { return text }
        return "\"" + text.pieces(by: "\"", keepsEmpty: true).joined(separator: "\"\"") + "\""
    }

    private static let formulaStarts = Array("=+-@".utf8)
    private static let special = Array(",\"".utf8)

    private static func isNumber(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            (48...57).contains(byte) || Array("+-.eE".utf8).contains(byte)
        } && Double(text) != nil
    }
}
