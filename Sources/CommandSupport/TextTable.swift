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
