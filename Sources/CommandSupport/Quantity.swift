import CaptureNative
import CapturePages

/// Formats numbers for the reader of a stream: rounded sizes and separated thousands on a terminal, plain whole numbers in
/// pipes and files.
package enum Quantity {
    /// The stream that a number is written to.
    package struct Stream: Sendable {
        package static let output = Stream(isTerminal: FileHandle.standardOutput.isTerminal)
        package static let messages = Stream(isTerminal: FileHandle.standardError.isTerminal)

        fileprivate let isTerminal: Bool
    }

    /// `78.6 GB` on a terminal, else `78609674240 bytes`.
    package static func bytes(_ count: Int, on stream: Stream = .output) -> String {
        stream.isTerminal ? Rounded.size(count) : "\(count) byte\(count == 1 ? "" : "s")"
    }

    /// `1,431 captures` on a terminal, else `1431 captures`.
    ///
    /// - Parameter plural: nil where it is the noun with an `s`.
    package static func count(
        _ count: Int, _ noun: String, plural: String? = nil, on stream: Stream = .output
    ) -> String {
        "\(number(count, on: stream)) \(count == 1 ? noun : plural ?? "\(noun)s")"
    }

    /// `1,431` on a terminal, else `1431`.
    package static func number(_ count: Int, on stream: Stream = .output) -> String {
        stream.isTerminal ? Rounded.grouped(count) : String(count)
    }
}
