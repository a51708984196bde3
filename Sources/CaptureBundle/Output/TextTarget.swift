/// A text file that is being written.
package final class TextTarget {
    private let target: OutputTarget

    /// - Throws: `output.exists`, `output.unusable`.
    package init(_ place: OutputPlace) throws(BundleError) {
        try OutputPlace.examine([place])
        target = try OutputTarget(place)
    }

    private init(examined place: OutputPlace) throws(BundleError) { target = try OutputTarget(place) }

    /// Two files that a command writes together.
    ///
    /// - Throws: `output.exists`, `output.unusable`, also if both have the same name.
    package static func pair(
        _ place: OutputPlace, _ other: OutputPlace?
    ) throws(BundleError) -> (TextTarget, TextTarget?) {
        try OutputPlace.examine([place, other].compactMap(\.self))
        return (
            try TextTarget(examined: place), try other.map { other throws(BundleError) in try .init(examined: other) }
        )
    }

    package func write(_ bytes: [UInt8]) throws(BundleError) { try target.write(bytes) }

    package func finish() throws(BundleError) { try target.commit() }
}
