import CaptureNative

/// A place to which a body is written.
package protocol BodyTarget {
    func write(_ bytes: Span<UInt8>) throws(BundleError)
}

extension OutputTarget: BodyTarget {}

/// Writes the parts of a body in their order, and searches them for the boundary.
package final class BodyWriter {
    private let target: any BodyTarget
    private let boundary: MultipartBoundary
    private var scanner: BoundaryScanner
    private var isFirst = true
    package private(set) var byteCount = 0
    /// Whether the boundary occurs in a part, so that this body cannot be used.
    package private(set) var isSpoilt = false

    package init(_ target: any BodyTarget, boundary: MultipartBoundary) {
        self.target = target
        self.boundary = boundary
        scanner = BoundaryScanner(like: boundary.bytes)
    }

    package func begin(_ part: BodyPart) throws(BundleError) { try begin(header: part.header) }

    /// Begins a part.
    ///
    /// - Parameter header: The bytes between the delimiter line and the data.
    func begin(header: [UInt8]) throws(BundleError) {
        try put((isFirst ? [] : Array("\r\n".utf8)) + Array("--".utf8) + boundary.bytes + Array("\r\n".utf8))
        try put(header)
        isFirst = false
        scanner = BoundaryScanner(like: boundary.bytes)
    }

    package func write(_ data: Span<UInt8>) throws(BundleError) {
        try scanner.scan(data) { match throws(BundleError) in
            if match == boundary.bytes { isSpoilt = true }
        }
        byteCount += data.count
        try target.write(data)
    }

    package func write(_ part: BodyPart, _ data: [UInt8]) throws(BundleError) {
        try begin(part)
        try write(data.span)
    }

    package func finish() throws(BundleError) {
        try put(Array("\r\n--".utf8) + boundary.bytes + Array("--\r\n".utf8))
    }

    private func put(_ bytes: [UInt8]) throws(BundleError) {
        byteCount += bytes.count
        try target.write(bytes.span)
    }
}
