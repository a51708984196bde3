import CaptureNative

/// The boundary between the parts of a body (Spec/upload.md section 1.1).
package struct MultipartBoundary: Hashable, Sendable {
    package static let prefix = Array("capture-bundle-".utf8)
    package static let digits = 40
    package static let length = prefix.count + digits
    package static let candidates = 16

    /// The prefix and 40 hex digits.
    let bytes: [UInt8]

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Computes the `n`th boundary of a manifest.
    package init(manifest: [UInt8], n: Int, prefix: [UInt8] = Self.prefix) throws(BundleError) {
        let digest = try Digest.of(manifest + Array(String(n).utf8))
        bytes = prefix + Hex.encode(digest.bytes).utf8.prefix(Self.digits)
    }

    /// Reads a boundary; nil if the bytes do not have the form of one.
    package init?(_ bytes: [UInt8], prefix: [UInt8] = Self.prefix) {
        guard bytes.count == prefix.count + Self.digits, bytes.starts(with: prefix),
            Hex.decode(String(decoding: bytes.dropFirst(prefix.count), as: UTF8.self)) != nil
        else { return nil }
        self.bytes = bytes
    }
}

/// Finds byte strings that have the form of a boundary in data that arrives in pieces.
package struct BoundaryScanner {
    /// What each of them begins with. The search is faster the longer it is.
    private let beginning: [UInt8]
    private let length: Int
    private var tail: [UInt8] = []

    package init() { (beginning, length) = (MultipartBoundary.prefix, MultipartBoundary.length) }

    /// Creates a scanner for this boundary alone.
    package init(of boundary: [UInt8]) { (beginning, length) = (boundary, boundary.count) }

    /// Searches the next bytes of a body.
    ///
    /// - Parameter found: Receives each occurrence, whole.
    package mutating func scan(_ piece: Span<UInt8>, found: ([UInt8]) throws -> Void) throws(BundleError) {
        let keep = length - 1
        // First search across the border: such an occurrence begins in the tail and ends in the head of this piece.
        var joint = tail
        joint.append(copying: piece.extracting(first: min(keep, piece.count)))
        try each(in: joint.span, beginningBefore: tail.count, found)
        try each(in: piece, beginningBefore: piece.count, found)
        if piece.count >= keep {
            tail = []
            tail.append(copying: piece.extracting((piece.count - keep)..<piece.count))
        } else {
            tail = joint.suffix(keep)
        }
    }

    private func each(
        in bytes: Span<UInt8>, beginningBefore border: Int, _ found: ([UInt8]) throws -> Void
    ) throws(BundleError) {
        var start = 0
        while let offset = ByteSearch.first(beginning, in: bytes, from: start), offset < border {
            guard offset + length <= bytes.count else { return }
            start = offset + 1
            let digits = bytes.extracting((offset + beginning.count)..<(offset + length))
            guard Self.isHex(digits) else { continue }
            var match: [UInt8] = []
            match.append(copying: bytes.extracting(offset..<(offset + length)))
            try native { try found(match) }
        }
    }

    private static func isHex(_ digits: Span<UInt8>) -> Bool {
        for index in 0..<digits.count {
            let digit = digits[index]
            guard EntryPath.isAlphanumeric(digit), digit <= UInt8(ascii: "f") else { return false }
        }
        return true
    }
}
