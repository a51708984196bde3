import CaptureBundle
import CapturePages
import CommandSupport
import QueueModel

/// Prints a line for each capture. Column widths are fixed, because the first line is printed before the last is known.
struct CaptureColumns {
    /// Of the terminal; nil for a pipe, where everything is whole.
    private let width: Int?
    /// The widths of all columns except the last one: id, state, time, bytes, tries.
    private let widths: [Int]

    init() {
        width = Output.columns
        // A narrow terminal of 60 columns has room for the last column too.
        widths = width.map { $0 < 80 ? [8, 12, 11, 9, 3] : [8, 18, 16, 9, 5] } ?? [36, 18, 20, 13, 5]
    }

    /// The header line; nil if the output is not a terminal.
    var header: String? {
        guard width != nil else { return nil }
        return line(["ID", "STATE", "PUSHED", "SIZE", widths[4] < 5 ? "TRY" : "TRIES", "TO"])
    }

    func line(_ record: CaptureRecord) -> String {
        let isPipe = width == nil
        let tries = record.deliveries.map(\.attempts).max() ?? 0
        return line(
            [
                isPipe ? record.id : Self.shortened(record.id), record.state.rawValue, pushed(record),
                isPipe ? String(record.byteCount) : Rounded.size(record.byteCount), String(tries),
            ] + Self.target(record))
    }

    private func line(_ cells: [String]) -> String {
        let text = zip(cells, widths).enumerated().map { index, cell in
            index < 3 ? padded(cell.0, cell.1) : leading(cell.0, cell.1)
        }.joined(separator: " ")
        let target = Array(cells.dropFirst(5))
        guard let width else { return "\(text)  \(target.joined(separator: " "))" }
        return "\(text)  \(Self.shortened(target, to: width - text.width - 2))"
    }

    /// Shortens the longest words until all of them fit.
    private static func shortened(_ words: [String], to width: Int) -> String {
        var widths = words.map(\.width)
        while widths.reduce(words.count - 1, +) > width, let longest = widths.max(), longest > 4,
            let index = widths.firstIndex(of: longest)
        {
            widths[index] -= 1
        }
        return zip(words, widths).map { $0.withoutMiddle(width: $1) }.joined(separator: " ")
    }

    /// The time without fractions of a second, without seconds on a terminal, and without the year on a narrow one.
    private func pushed(_ record: CaptureRecord) -> String {
        let text = record.pushedAt.description
        guard width != nil else { return text.hasSuffix("Z") ? text.cut(to: 19) + "Z" : text }
        let minutes = text.cut(to: 16).pieces(by: "T").joined(separator: " ")
        return minutes.without(first: max(0, minutes.utf8.count - widths[2]))
    }

    /// The first group of the id. An id with a number, such as `.2`, stays whole.
    private static func shortened(_ id: String) -> String {
        // A shortened id with its number would not be a beginning of the id, so commands would not find it.
        id.contains(".") ? id : id.cut(to: 8)
    }

    /// The destinations, the session, and a note if the queue does not hold the bytes.
    private static func target(_ record: CaptureRecord) -> [String] {
        var words = [record.deliveries.map { $0.destination ?? "-" }.joined(separator: ",")]
        if let session = record.session { words.append(session) }
        switch record.holding {
        case .spool: break
        case .reference: words.append("(by reference)")
        case .removing, .removed: words.append("(deleted)")
        case .quarantined: words.append("(damaged)")
        case .missing: words.append(record.reference == nil ? "(missing)" : "(missing or changed)")
        }
        return words
    }

    private func padded(_ text: String, _ width: Int) -> String {
        // An id with a number is longer, and only works whole.
        let text = self.width == nil || text.utf8.contains(UInt8(ascii: ".")) ? text : text.withoutMiddle(width: width)
        return text + String(repeating: " ", count: max(0, width - text.width))
    }

    private func leading(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.width)) + text
    }
}

extension Duration {
    /// The two largest units, for people.
    var words: String {
        let seconds = milliseconds / 1000
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: return "\(seconds / 86_400) d \(seconds / 3600 % 24) h"
        }
    }
}
