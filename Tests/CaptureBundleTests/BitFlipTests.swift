import CaptureBundle
import CaptureNative
import CaptureTestSupport
import Foundation
import PictureClient
import PictureMessages
import Testing

/// A changed bit of a form that has a check is refused, or what is read is what the undamaged file gives
/// (Spec/raw-captures.md section 10). JPEG, HEIC, LZW, PackBits, raw deflate and a plain tar have no check.
struct BitFlipTests {
    let decoder = PictureDecoder()
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [
        "bsdtar -czf a raw", "bsdtar -cf - raw | zstd -q >a", "bsdtar -cjf a raw", "bsdtar -cJf a raw",
        "bsdtar -cf b raw && (head -c 999 b | gzip && tail -c +1000 b | gzip) >a",
        "bsdtar -a -cf a.zip raw && mv a.zip a", "python3 -m zipfile -c a raw",
        "python3 -c \"import zipfile as f; z = f.ZipFile('a', 'w', 8); [z.write('raw/' + n) for n in ('one', 'two')]\"",
    ])
    func areFoundInAnArchive(_ command: String) throws {
        try folder.write((0..<400).map { UInt8(truncatingIfNeeded: $0 * $0 / 97) }, to: "raw/one")
        try folder.write([1, 2, 3], to: "raw/two")
        try folder.shell(command)
        let whole = try decoder.files(of: folder.path("a"))
        #expect(Set(whole.keys) == ["raw/one", "raw/two"])
        for changed in Damage.flips(try folder.bytes("a"), count: 25) {
            try folder.write(changed, to: "changed")
            do {
                #expect(try decoder.files(of: folder.path("changed")) == whole)
            } catch let error as BundleError {
                #expect(error.code == .rawArchive, "\(error)")
            }
        }
    }

    /// The options of tiffcp. It writes the compressed bytes between the header and the directory, which has no check.
    @Test(arguments: ["-c zip -r 7", "-c zip:p2 -r 7", "-c zip:p3 -t -w 32 -l 16"])
    func areFoundInATIFF(_ options: String) throws {
        let samples = (0..<(70 * 40)).map { Float($0 % 70) / 8 + 1 }
        let floats = PictureFiles.tiff(width: 70, height: 40, samples)
        let strip = samples.flatMap { PictureFiles.little(Int($0 * 1000), 2) }
        let codes = PictureFiles.tiff(width: 70, height: 40, bits: 16, format: 1, strip: strip)
        try folder.write(options.contains("p2") ? codes : floats, to: "plain.tif")
        try folder.shell("tiffcp \(options) plain.tif a.tif")
        let file = try folder.bytes("a.tif")
        let end = file[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
        #expect(end > 500 && end < file.count)
        try expectFlipsFound(in: file, .tiff, 8..<end)
    }

    @Test func areFoundInAPNGAndAnEXR() throws {
        let png = PictureFiles.png(width: 16, height: 9, (0..<144).map { $0 * 401 })
        try expectFlipsFound(in: png, .png, 0..<png.count)
        let (exr, data) = try Self.compressedEXR(width: 64, height: 9)
        try expectFlipsFound(in: exr, .openEXR, data..<exr.count)
    }

    private func expectFlipsFound(
        in file: [UInt8], _ format: PictureDecoder.SampleFormat, _ range: Range<Int>
    ) throws {
        let whole = try decoder.samples(file, format)
        for changed in Damage.flips(Array(file[range]), count: 60) {
            let file = file[..<range.lowerBound] + changed + file[range.upperBound...]
            do throws(PictureFailure) {
                let samples = try decoder.samples(Array(file), format)
                #expect(samples.float32 == whole.float32 && samples.uint16 == whole.uint16)
            } catch {
                #expect([.malformed, .unsupported, .tooLarge].contains(error.kind), "\(error)")
            }
        }
    }

    /// An OpenEXR file with ZIPS compression, each line by itself, and the position of its first compressed line.
    private static func compressedEXR(width: Int, height: Int) throws -> ([UInt8], Int) {
        let lines = (0..<height).map { row in (0..<width).flatMap { PictureFiles.little(Float(row + $0 / 8)) } }
        let plain = PictureFiles.exr(
            width: width, height: height, channels: ["R"], pixelType: 2,
            each: lines.flatMap { $0.pieces(of: 4) }, compression: 2)
        var file = Array(plain.dropLast(height * (8 + 8 + 4 * width)))
        let data = file.count + 8 * height
        var chunks: [UInt8] = []
        for (row, line) in lines.enumerated() {
            // The bytes at even places come first, then each is replaced by its difference to the one before it.
            let sorted = [0, 1].flatMap { start in stride(from: start, to: line.count, by: 2).map { line[$0] } }
            let differences = zip(sorted.dropFirst(), sorted).map { $0 &- $1 &+ 128 }
            let packed = try zlib([sorted[0]] + differences)
            #expect(packed.count < line.count)
            file += PictureFiles.little(data + chunks.count, 8)
            chunks += PictureFiles.little(row, 4) + PictureFiles.little(packed.count, 4) + packed
        }
        return (file + chunks, data)
    }

    private static func zlib(_ bytes: [UInt8]) throws -> [UInt8] {
        var output = [UInt8](repeating: 0, count: bytes.count + 100)
        let done = try Deflater(level: 6).deflate(bytes.span, isLast: true, into: &output)
        return [0x78, 0x9c] + output[..<done.produced] + PictureFiles.zlib(bytes).suffix(4)
    }
}
