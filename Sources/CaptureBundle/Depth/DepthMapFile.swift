import CaptureNative
import SystemPackage

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
