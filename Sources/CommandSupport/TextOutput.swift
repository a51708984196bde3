package import CaptureBundle

/// Collects lines and writes many of them at a time: to standard output, or to a file that appears either complete or not
/// at all.
package final class TextOutput {
    private let target: OutputTarget?
    private var waiting: [UInt8] = []

    /// - Parameter place: nil for standard output, whose lines need not wait for the last one.
    package init(_ place: OutputPlace? = nil) throws(BundleError) {
        target = if let place { try OutputTarget(examining: place) } else { nil }
    }

    package func line(_ text: String) throws(BundleError) {
        waiting += text.utf8
        waiting.append(UInt8(ascii: "\n"))
        if waiting.count >= 1 << 15 { try flush() }
    }

    /// Writes the rest and gives the file its name; call it at the end.
    package func finish() throws(BundleError) {
        if !waiting.isEmpty { try flush() }
        try target?.commit()
    }

    private func flush() throws(BundleError) {
        let bytes = waiting
        waiting.removeAll(keepingCapacity: true)
        if let target { try target.write(bytes) } else { try Output.write(bytes) }
    }
}
