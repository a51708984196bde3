import CaptureNative
package import SystemPackage

/// A text file or a picture that is being written.
package final class TextTarget {
    private let target: OutputTarget

    /// - Parameter inputs: The files that the command reads, and that must not be replaced.
    /// - Throws: `output.exists`, `output.unusable`.
    package init(_ place: OutputPlace, reading inputs: [FilePath] = []) throws(BundleError) {
        for input in inputs { try OutputPlace.examine([place], reading: try? FileStatus.of(input)) }
        try OutputPlace.examine([place])
        target = try OutputTarget(place)
    }

    private init(examined place: OutputPlace) throws(BundleError) { target = try OutputTarget(place) }

    /// Opens two files that a command writes together.
    ///
    /// - Throws: `output.exists`; `output.unusable`, also if both have the same name.
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
