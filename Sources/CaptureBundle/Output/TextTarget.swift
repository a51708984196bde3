/// A text file that is being written.
package final class TextTarget {
    private let target: OutputTarget

    /// - Throws: `output.exists`, `output.unusable`.
    package init(_ place: OutputPlace) throws(BundleError) {
        try OutputPlace.examine([place])
        target = try OutputTarget(place)
    }

    package func write(_ bytes: [UInt8]) throws(BundleError) { try target.write(bytes) }

    package func finish() throws(BundleError) { try target.commit() }
}
