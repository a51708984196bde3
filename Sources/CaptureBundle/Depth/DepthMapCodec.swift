import CaptureNative
import SystemPackage

extension BundleError.Code {
    static let depthGzip = Self("depth.gzip")
    static let depthLength = Self("depth.length")
    static let depthSHA256 = Self("depth.sha256")
}

/// Converts the depth map to its form in a bundle: one plain gzip member of Float32 little-endian
/// (Spec/capture-bundle.md section 5).
package enum DepthMapCodec {
    /// The bytes ID1 ID2 CM FLG MTIME(4). XFL and OS follow and may have any value.
    static let fixedHeader: [UInt8] = [0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0]
    static let headerLength = 10
    static let trailerLength = 8
    /// On ten depth maps of phones, libdeflate's level 1 takes half the time of level 4 but gives 5 to 36 % more bytes, which
    /// take 8 to 50 % longer to inflate: a map is packed once and read often. Level 6 takes 1.2 to 2 times the time of 4.
    private static let level: Int32 = 4

    /// Depth maps with more bytes of floats are compressed in pieces, to a temporary file.
    package static let memoryLimit = 64 << 20

    /// Makes the bytes of `depth.f32.gz`. The same floats always give the same bytes.
    package static func compress(
        _ floats: PayloadContent, size: DepthSize, sha256: Digest
    ) throws(BundleError) -> (content: PayloadContent, size: Int, sha256: Digest) {
        let made: (content: PayloadContent, size: Int, sha256: Digest)
        switch floats {
        case .bytes(let bytes):
            let member = try native { try GzipCompressor.compress(bytes.span, level: level) }
            guard member.starts(with: fixedHeader) else {
                throw BundleError(.internalFailure, "libdeflate wrote a gzip header that differs from the format")
            }
            made = (.bytes(member), member.count, try Digest.of(member))
        case .file:
            let temporary = try DepthMapFile()
            try floats.stream(size: size.byteCount, sha256: sha256) { try temporary.add($0) }
            made = try temporary.finish()
        }
        guard made.size <= size.entryLimit else {
            throw BundleError(.internalFailure, "the depth map of \(size) samples has \(made.size) bytes compressed")
        }
        return made
    }
}

/// Inflates `depth.f32.gz` while it is read, in constant memory, and checks rules D1 to D3.
///
/// It takes pieces of any size and passes the raw floats to `onFloats`, never more bytes than the size allows.
package final class DepthMapReader {
    private enum Phase { case header, deflate, trailer, ended }

    private let expectedBytes: Int
    private let blockLimit: Int
    private var blocks = 0
    private let inflater: Inflater
    private let hash: DigestStream
    private var crc = CRC32()
    private var phase = Phase.header
    private var pending: [UInt8] = []
    // While it is written, the buffer is moved to a local variable, so that it is never copied.
    private var output = [UInt8](repeating: 0, count: 1 << 16)
    /// Whether zlib stopped because the output was full, so that it may have more output without further input.
    private var mayHoldOutput = false
    package private(set) var inflatedBytes = 0
    package private(set) var fault: BundleError?

    package init(size: DepthSize) throws(BundleError) {
        expectedBytes = size.byteCount
        blockLimit = size.blockLimit
        inflater = try native { try Inflater() }
        hash = try DigestStream()
    }

    /// Takes the next piece of the entry. After a fault, the rest is ignored.
    package func consume(
        _ piece: Span<UInt8>, onFloats: (Span<UInt8>) throws -> Void = { _ in }
    ) throws(BundleError) {
        var rest = piece
        while !rest.isEmpty || mayHoldOutput, fault == nil {
            switch phase {
            case .header: readHeader(&rest)
            case .deflate: try native { try readDeflate(&rest, onFloats) }
            case .trailer: readTrailer(&rest)
            case .ended: fail(.depthGzip, "there are bytes after the end of the gzip member")
            }
        }
    }

    /// Checks the whole depth map after the last byte of the entry was taken.
    ///
    /// - Parameter expected: The hash of the raw floats that the manifest states.
    package func finish(expected: Digest) throws(BundleError) -> BundleError? {
        if fault != nil { return fault }
        guard phase == .ended else { return BundleError(.depthGzip, "the gzip member is cut off") }
        guard inflatedBytes == expectedBytes else {
            return BundleError(.depthLength, "inflates to \(inflatedBytes) bytes, expected \(expectedBytes)")
        }
        let digest = try hash.finish()
        guard digest == expected else {
            return BundleError(.depthSHA256, "the floats' SHA-256 is \(digest), the manifest says \(expected)")
        }
        return nil
    }

    private func fail(_ code: BundleError.Code, _ message: String) {
        fault = BundleError(code, message)
    }

    private func collect(_ count: Int, from rest: inout Span<UInt8>) -> Bool {
        let taken = min(count - pending.count, rest.count)
        for index in 0..<taken { pending.append(rest[index]) }
        rest = rest.extracting(droppingFirst: taken)
        return pending.count == count
    }

    private func readHeader(_ rest: inout Span<UInt8>) {
        guard collect(DepthMapCodec.headerLength, from: &rest) else { return }
        guard pending.starts(with: DepthMapCodec.fixedHeader) else {
            return fail(.depthGzip, "does not begin with the gzip header \(Hex.encode(DepthMapCodec.fixedHeader))")
        }
        pending = []
        phase = .deflate
    }

    private func readDeflate(_ rest: inout Span<UInt8>, _ onFloats: (Span<UInt8>) throws -> Void) throws {
        var output = exchange(&self.output, with: [])
        defer { self.output = output }
        let (outcome, consumed, produced) = try inflater.inflate(rest, into: &output)
        rest = rest.extracting(droppingFirst: consumed)
        inflatedBytes += produced
        guard inflatedBytes <= expectedBytes else {
            return fail(.depthLength, "inflates to more than the expected \(expectedBytes) bytes")
        }
        let floats = output.span.extracting(first: produced)
        crc.update(floats)
        try hash.update(floats)
        try onFloats(floats)
        mayHoldOutput = outcome == .outputFull
        switch outcome {
        case .finished: phase = .trailer
        case .corrupt: fail(.depthGzip, "the deflate stream is broken after \(inflatedBytes) bytes")
        case .blockEnded:
            blocks += 1
            if blocks == blockLimit { fail(.depthGzip, "the deflate stream has more than \(blockLimit) blocks") }
            // zlib may still hold earlier input, and then the next block needs no further input.
            mayHoldOutput = true
        case .needsInput, .outputFull: break
        }
    }

    private func readTrailer(_ rest: inout Span<UInt8>) {
        guard collect(DepthMapCodec.trailerLength, from: &rest) else { return }
        let words = [0, 4].map { start in
            (0..<4).reduce(UInt32(0)) { $0 | UInt32(pending[start + $1]) << (8 * UInt32($1)) }
        }
        if words[0] != crc.value { return fail(.depthGzip, "the CRC-32 of the gzip member is wrong") }
        if words[1] != UInt32(truncatingIfNeeded: inflatedBytes) {
            return fail(.depthGzip, "the length in the gzip trailer is wrong")
        }
        phase = .ended
    }
}

/// Compresses a depth map piece by piece into a temporary file, in memory that does not grow with the map.
final class DepthMapFile {
    /// On depth maps, level 4 is five times as fast as level 6 and gives 4 to 8 % more bytes.
    private static let level: Int32 = 4

    private let file: FileHandle
    private let deflater: Deflater
    private let hash: DigestStream
    private var crc = CRC32()
    private var floatBytes = 0
    private var size = 0

    init() throws(BundleError) {
        file = try OutputTarget.temporary()
        deflater = try native { try Deflater(level: Self.level) }
        hash = try DigestStream()
        // XFL 0 and OS 255; readers accept any values.
        try write((DepthMapCodec.fixedHeader + [0, 255]).span)
    }

    func add(_ floats: Span<UInt8>) throws(BundleError) {
        crc.update(floats)
        floatBytes += floats.count
        try deflate(floats, isLast: false)
    }

    /// Ends the gzip member. The resulting content is the temporary file.
    func finish() throws(BundleError) -> (content: PayloadContent, size: Int, sha256: Digest) {
        let nothing: [UInt8] = []
        try deflate(nothing.span, isLast: true)
        let trailer = [crc.value, UInt32(truncatingIfNeeded: floatBytes)].flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
        try write(trailer.span)
        return (.file(file, name: TemporaryFile.folder.string), size, try hash.finish())
    }

    private func deflate(_ floats: Span<UInt8>, isLast: Bool) throws(BundleError) {
        var rest = floats
        var output = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let step = try native { try deflater.deflate(rest, isLast: isLast, into: &output) }
            rest = rest.extracting(droppingFirst: step.consumed)
            try write(output.span.extracting(first: step.produced))
            if step.isDone { return }
        }
    }

    private func write(_ bytes: Span<UInt8>) throws(BundleError) {
        size += bytes.count
        try hash.update(bytes)
        try native(OutputTarget.temporaryFailure) { try file.write(bytes) }
    }
}

/// Assembles little-endian floats from bytes that arrive in pieces of any size.
package struct SamplePieces {
    private var pending: UInt32 = 0
    private var pendingBytes = 0

    package init() {}

    package mutating func read(_ bytes: Span<UInt8>, _ body: (UInt32) -> Void) {
        var index = 0
        while index < bytes.count {
            if pendingBytes == 0 && bytes.count - index >= 4 {
                body(
                    UInt32(bytes[index]) | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]) << 16
                        | UInt32(bytes[index + 3]) << 24)
                index += 4
                continue
            }
            pending |= UInt32(bytes[index]) << (8 * UInt32(pendingBytes))
            pendingBytes += 1
            index += 1
            if pendingBytes == 4 {
                body(pending)
                (pending, pendingBytes) = (0, 0)
            }
        }
    }
}
