import CaptureNative

/// The coding of an answer's body (RFC 9110 section 8.4). We ask for `identity`, but some servers code all the same.
package enum ContentCoding: Equatable, Sendable {
    case gzip
    case deflate
    /// One that is not read, as the header names it.
    case other(String)

    /// - Parameter header: the value of `Content-Encoding`.
    /// - Returns: nil if the body has its own bytes. `aws-chunked` is a transfer coding, which some stores repeat.
    package static func of(_ header: String?) -> ContentCoding? {
        let names = (header ?? "").lowercased().pieces(by: ",").map(\.trimmed)
            .filter { !["", "identity", "aws-chunked"].contains($0) }
        return switch names {
        case []: nil
        case ["gzip"], ["x-gzip"]: .gzip
        case ["deflate"]: .deflate
        default: .other(names.joined(separator: ", "))
        }
    }
}

/// Decodes a body in gzip or deflate as it arrives.
final class ContentDecoder {
    private let coding: ContentCoding
    /// nil before the first byte.
    private var inflater: Inflater?
    private var hasEnded = false
    private var isRaw = false
    private var buffer = [UInt8](repeating: 0, count: 1 << 15)

    /// - Returns: nil for a coding that is not read.
    init?(_ coding: ContentCoding?) {
        guard let coding, coding == .gzip || coding == .deflate else { return nil }
        self.coding = coding
    }

    /// Whether the body is complete. An empty one is, as in the answer to HEAD.
    var isWhole: Bool { inflater == nil || hasEnded }

    /// Decodes the next bytes of the body, and passes them on in pieces.
    ///
    /// - Returns: False if the bytes are damaged, or if `taker` wants no more.
    func decode(_ bytes: Span<UInt8>, _ taker: (Span<UInt8>) -> Bool) -> Bool {
        var used = 0
        var isIdle = false
        // zlib can have the last bytes of a raw stream, and not yet know that it has ended.
        while used < bytes.count || isRaw && !isIdle {
            // Bytes after the end are ignored, as browsers do.
            if hasEnded { return true }
            if inflater == nil {
                let form = form(bytes[used])
                inflater = try? Inflater(form)
                isRaw = form == .raw
            }
            guard let inflater else { return false }
            let rest = bytes.extracting(last: bytes.count - used)
            guard let step = try? inflater.inflate(rest, into: &buffer), step.outcome != .corrupt else { return false }
            used += step.consumed
            if step.produced > 0, !taker(buffer.span.extracting(first: step.produced)) { return false }
            hasEnded = step.outcome == .finished
            // Without a wrapper, zlib stops once before the first block.
            let wasIdle = exchange(&isIdle, with: step.consumed == 0 && step.produced == 0)
            if isIdle, wasIdle { return used == bytes.count }
        }
        return true
    }

    /// `deflate` means zlib (RFC 9110 section 8.4.1.2), but some servers send it without the wrapper.
    private func form(_ first: UInt8) -> Inflater.Form {
        coding == .gzip ? .gzip : first & 0x0f == 8 ? .zlib : .raw
    }
}
