import CaptureBundle

/// A table with aligned columns.
package struct TextTable {
    private var rows: [[String]] = []

    package init() {}

    package mutating func add(_ cells: String...) { rows.append(cells) }

    /// The rows, with two spaces before each row and between columns. The last column is not padded.
    package var lines: [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { column < $0.count - 1 ? $0[column].width : 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = row.enumerated().map { index, cell in
                index == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[index] - cell.width)
            }
            return "  " + cells.joined(separator: "  ")
        }
    }
}

/// Formats numbers for people.
package enum Quantity {
    /// A number of bytes with its unit: `1,431,108 bytes`.
    package static func bytes(_ count: Int) -> String { "\(grouped(count)) byte\(count == 1 ? "" : "s")" }

    package static func count(_ count: Int, _ noun: String) -> String {
        "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")"
    }

    /// A number with commas between thousands.
    package static func grouped(_ count: Int) -> String { count.grouped }

    /// A rounded decimal with the given number of places.
    package static func decimal(_ value: Double, places: Int) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
        var scale = 1
        for _ in 0..<places { scale *= 10 }
        let scaled = Int((abs(value) * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        let padded = String(repeating: "0", count: places - fraction.utf8.count) + fraction
        return "\(value < 0 ? "-" : "")\(scaled / scale).\(padded)"
    }
}
