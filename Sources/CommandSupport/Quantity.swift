import CaptureNative

/// Formats numbers for the reader of a stream: rounded sizes and separated thousands on a terminal, plain whole numbers in
/// pipes and files.
package enum Quantity {
    /// The stream that a number is written to.
    package enum Stream {
        case output, messages

        fileprivate var isTerminal: Bool {
            switch self {
            case .output: Quantity.isOutputTerminal
            case .messages: Quantity.areMessagesOnTerminal
            }
        }
    }

    private static let isOutputTerminal = FileHandle.standardOutput.isTerminal
    private static let areMessagesOnTerminal = FileHandle.standardError.isTerminal

    /// `78.6 GB` on a terminal, else `78609674240 bytes`.
    package static func bytes(_ count: Int, on stream: Stream = .output) -> String {
        stream.isTerminal ? size(count) : "\(count) byte\(count == 1 ? "" : "s")"
    }

    /// `1,431 captures` on a terminal, else `1431 captures`.
    ///
    /// - Parameter plural: nil where it is the noun with an `s`.
    package static func count(
        _ count: Int, _ noun: String, _ plural: String? = nil, on stream: Stream = .output
    ) -> String {
        "\(number(count, on: stream)) \(count == 1 ? noun : plural ?? "\(noun)s")"
    }

    /// `1,431` on a terminal, else `1431`.
    package static func number(_ count: Int, on stream: Stream = .output) -> String {
        stream.isTerminal ? grouped(count) : String(count)
    }

    /// A rounded size in powers of 1000: `999 bytes`, `1.5 kB`, `78.6 GB`.
    package static func size(_ bytes: Int) -> String {
        guard bytes.magnitude >= 1000 else { return "\(bytes) byte\(bytes == 1 ? "" : "s")" }
        var value = Double(bytes)
        var unit = ""
        for next in ["kB", "MB", "GB", "TB"] {
            value /= 1000
            unit = next
            // 999.95 would become 1000.0.
            if abs(value) < 999.95 { break }
        }
        return "\(decimal(value, places: 1)) \(unit)"
    }

    /// A number with commas between thousands.
    package static func grouped(_ count: Int) -> String {
        guard count.magnitude >= 1000 else { return String(count) }
        let lastThree = String(decoding: String(1000 + count.magnitude % 1000).utf8.dropFirst(), as: UTF8.self)
        return "\(grouped(count / 1000)),\(lastThree)"
    }

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
