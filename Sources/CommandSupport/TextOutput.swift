package import CaptureBundle
import CaptureNative

/// Text that goes to a file, which appears whole or not at all, or to standard output.
package final class TextOutput {
    private let target: TextTarget
    private var waiting: [UInt8] = []

    package init(_ place: OutputPlace) throws(BundleError) { target = try TextTarget(place) }

    package func line(_ text: String) throws(BundleError) {
        waiting += text.utf8
        waiting.append(UInt8(ascii: "\n"))
        if waiting.count >= 1 << 15 { try flush() }
    }

    /// Gives the file its name. To be called at the end.
    package func finish() throws(BundleError) {
        try flush()
        try target.finish()
    }

    private func flush() throws(BundleError) {
        try target.write(waiting)
        waiting.removeAll(keepingCapacity: true)
    }
}
