package import CaptureBundle
import CaptureNative

/// Writes text to standard output or to a file that appears either complete or not at all.
package final class TextOutput {
    private let target: TextTarget
    private var waiting: [UInt8] = []

    package init(_ place: OutputPlace) throws(BundleError) { target = try TextTarget(place) }

    package func line(_ text: String) throws(BundleError) {
        waiting += text.utf8
        waiting.append(UInt8(ascii: "\n"))
        if waiting.count >= 1 << 15 { try flush() }
    }

    /// Writes the rest and gives the file its name; call it at the end.
    package func finish() throws(BundleError) {
        try flush()
        try target.finish()
    }

    private func flush() throws(BundleError) {
        try target.write(waiting)
        waiting.removeAll(keepingCapacity: true)
    }
}
