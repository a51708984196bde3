import CaptureBundle
import CaptureQueue
import CommandSupport

/// Prints a line for each capture. Column widths are fixed, because the first line is printed before the last is known.
struct CaptureColumns {
    private let width: Int?

    init() { width = Output.columns }

    /// The header line; nil if the output is not a terminal.
    var header: String? {
        guard width != nil else { return nil }
        return fitted(
            "\(padded("ID", 11)) \(padded("STATE", 18)) \(padded("PUSHED", 16)) \(leading("BYTES", 11)) TRIES  TO")
    }

    func line(_ record: CaptureRecord) -> String {
        let id = width == nil ? padded(record.id, 36) : padded(Self.shortened(record.id), 11)
        let tries = record.deliveries.map(\.attempts).max() ?? 0
        let parts = [
            id, " ", padded(record.state.rawValue, 18), " ", pushed(record), " ",
            leading(Quantity.grouped(record.byteCount), width == nil ? 13 : 11), " ", leading(String(tries), 5), "  ",
            Self.target(record),
        ]
        return fitted(parts.joined())
    }

    private func pushed(_ record: CaptureRecord) -> String {
        let text = Moment.short(record.pushedAt)
        return width == nil ? text : text.cut(to: 16).pieces(by: "T").joined(separator: " ")
    }

    /// The first group of the id. An id with a number, such as `.2`, stays whole.
    private static func shortened(_ id: String) -> String {
        // A shortened id with its number would not be a beginning of the id, so commands would not find it.
        id.contains(".") ? id : id.cut(to: 8)
    }

    private static func target(_ record: CaptureRecord) -> String {
        var names = record.deliveries.map { $0.destination ?? "-" }.joined(separator: ",")
        if let session = record.session { names += " \(session)" }
        switch record.holding {
        case .spool: break
        case .reference: names += " (by reference)"
        case .removing, .removed: names += " (let go)"
        case .quarantined: names += " (damaged)"
        case .missing: names += " (missing)"
        }
        return names
    }

    private func fitted(_ text: String) -> String {
        guard let width, text.width > width else { return text }
        return text.cut(toWidth: max(1, width - 1)) + "…"
    }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.width))
    }

    private func leading(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.width)) + text
    }
}

/// Formats times for people and for programs.
enum Moment {
    /// RFC 3339 in UTC with milliseconds.
    static func text(_ milliseconds: Int) -> String {
        CaptureTime(milliseconds: milliseconds)?.description ?? "\(milliseconds) ms"
    }

    /// RFC 3339 in UTC without fractions of a second.
    static func short(_ milliseconds: Int) -> String {
        let text = text(milliseconds)
        return text.hasSuffix("Z") ? text.cut(to: 19) + "Z" : text
    }

    /// A duration in its two largest units.
    static func age(_ milliseconds: Int) -> String {
        let seconds = max(0, milliseconds) / 1000
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: return "\(seconds / 86_400) d \(seconds / 3600 % 24) h"
        }
    }
}
