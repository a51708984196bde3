import CaptureBundle

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
