import CaptureBundle
import CaptureTestSupport
import Foundation
import PictureClient
import PictureMessages
import Testing

/// Pictures that the tools of Debian's libtiff-tools and openexr have written again, in other forms.
@Suite(
    .enabled(
        if: ["tiffcp", "exrmaketiled"].allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") },
        "needs Debian's libtiff-tools and openexr"))
struct EncodedPictureTests {
    let decoder = PictureDecoder()
    static let width = 71
    static let height = 53
    static let floats = (0..<(width * height)).map { index -> Float in
        index % 7 == 0 ? 0 : 0.3 + Float(index % 1000) / 333
    }

    @Test(
        arguments: ["none", "lzw", "lzw:2", "lzw:3", "zip", "zip:2", "zip:3", "packbits"],
        ["-s", "-s -r 1", "-s -r 20", "-t -w 16 -l 32", "-t -w 128 -l 128"])
    func givesTheFloatsOfATIFF(_ compression: String, _ layout: String) throws {
        let file = PictureFiles.tiff(width: Self.width, height: Self.height, Self.floats)
        let written = try rewritten(file, "tiffcp -c \(compression) \(layout)")
        #expect(try decoder.samples(written, .tiff).float32 == Self.floats)
    }

    @Test(arguments: ["-B -c none -s", "-B -c lzw:2 -t -w 16 -l 16", "-L -c zip:2 -s -r 3"])
    func givesTheIntegersOfATIFF(_ options: String) throws {
        let samples = (0..<(Self.width * Self.height)).map { UInt16(truncatingIfNeeded: $0 * 77) }
        let file = PictureFiles.tiff(
            width: Self.width, height: Self.height, bits: 16, format: 1,
            strip: samples.flatMap { PictureFiles.little(Int($0), 2) })
        #expect(try decoder.samples(rewritten(file, "tiffcp \(options)"), .tiff).uint16 == samples)
    }

    @Test func refusesACompressionThatLosesSamples() throws {
        let file = PictureFiles.tiff(
            width: 64, height: 64, bits: 8, format: 1, strip: [UInt8](repeating: 9, count: 64 * 64))
        let written = try rewritten(file, "tiffcp -c jpeg")
        let failure = try #require(throws: PictureFailure.self) { try decoder.samples(written, .tiff) }
        #expect(failure.kind == .unsupported)
        #expect(failure.message.contains("compression 7"))
    }

    /// The second picture of a file would be ignored, so the file is refused.
    @Test func refusesATIFFWithTwoPictures() throws {
        let file = PictureFiles.tiff(width: 2, height: 2, [1, 2, 3, 4])
        let written = try rewritten(file, "tiffcp -a")
        let failure = try #require(throws: PictureFailure.self) { try decoder.samples(written, .tiff) }
        #expect(failure.message == "is a TIFF with several pictures, expected one")
    }

    @Test(arguments: ["none", "rle", "zip", "piz"], ["-o -t 16 16", "-o -t 64 32", "-m -t 32 32", "-r -t 32 32"])
    func givesTheFloatsOfATiledOpenEXR(_ compression: String, _ layout: String) throws {
        let file = PictureFiles.exr(width: Self.width, height: Self.height, Self.floats)
        let written = try rewritten(file, "exrmaketiled -z \(compression) \(layout)")
        #expect(written != file)
        #expect(try decoder.samples(written, .openEXR).float32 == Self.floats)
    }

    /// Runs a command with the names of a file and of a file to write, which exists already for `tiffcp -a`.
    private func rewritten(_ file: [UInt8], _ command: String) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        try folder.write(file, to: "given")
        if command == "tiffcp -a" { try folder.write(file, to: "written") }
        let words = command.split(separator: " ").map { String($0) }
        let done = try Program.run(
            URL(filePath: "/usr/bin/\(words[0])"), words.dropFirst() + ["given", "written"], in: folder.url,
            environment: [:])
        try #require(done.exitCode == 0, "\(done.errorText)")
        return try folder.bytes("written")
    }
}
