import CaptureBundle
import CaptureImport
import CaptureNative
import CaptureTestSupport
import Foundation
import PictureClient
import PictureMessages
import SystemPackage
import Testing

/// Hostile pictures are refused in bounded time and memory, and the process that met them goes on or is replaced.
struct HostilePictureTests {
    let decoder = PictureDecoder()

    static let small: [(PictureDecoder.SampleFormat, [UInt8])] = [
        (.png, PictureFiles.png(width: 5, height: 4, (0..<20).map { $0 * 3001 })),
        (.openEXR, PictureFiles.exr(width: 5, height: 4, (0..<20).map { Float($0) / 3 })),
        (.tiff, PictureFiles.tiff(width: 5, height: 4, (0..<20).map { Float($0) / 3 })),
    ]

    @Test(arguments: small)
    func survivesTruncationsAndBitFlips(_ format: PictureDecoder.SampleFormat, _ file: [UInt8]) throws {
        let whole = try decoder.samples(file, format)
        // A reader may do without the last bytes of a file: then the samples must be those of the whole.
        for cut in Array(Damage.cuts(file)) + (1...4).map({ Array(file.dropLast($0)) }) {
            do throws(PictureFailure) {
                let samples = try decoder.samples(cut, format)
                #expect(samples.float32 == whole.float32 && samples.uint16 == whole.uint16, "\(cut.count) bytes")
                #expect(cut.count >= file.count - 4, "\(cut.count) bytes")
            } catch {
                #expect(error.kind == .malformed || error.kind == .unsupported || error.kind == .tooLarge)
            }
        }
        for changed in Damage.flips(file, count: 300) {
            do throws(PictureFailure) { _ = try decoder.samples(changed, format) } catch {
                #expect(!error.kind.isInstallation && error.kind != .late && error.kind != .died)
            }
        }
        // The same process serves a good file afterwards.
        _ = try decoder.samples(file, format)
    }

    @Test func survivesTruncatedAndChangedJPEGs() throws {
        let file = try decoder.jpeg(#require(PixelImage.pattern(width: 24, height: 16)), quality: 80)
        for cut in Damage.cuts(file.dropLast(2), count: 60) {
            #expect(throws: PictureFailure.self, "\(cut.count) bytes") { try decoder.pixels(cut, .jpeg) }
        }
        for changed in Damage.flips(file, count: 300) {
            do throws(PictureFailure) { _ = try decoder.thumbnail(changed, orientation: 6, quality: 80) } catch {
                #expect(error.kind == .malformed || error.kind == .unsupported || error.kind == .tooLarge)
            }
        }
    }

    /// Files that declare far more than they hold.
    @Test func refusesDeclaredSizesAboveTheLimits() throws {
        let row = [UInt8](repeating: 0, count: 16)
        let png = { (width: Int, height: Int) in
            PictureFiles.png(width: width, height: height, bits: 16, colour: 0, rows: [row])
        }
        #expect(try failure(png(16385, 1), .png).kind == .tooLarge)
        #expect(try failure(png(0x7fff_ffff, 0x7fff_ffff), .png).kind == .tooLarge)
        #expect(try failure(png(16384, 16384), .png).kind == .tooLarge)
        #expect(try failure(png(16384, 8192), .png).kind == .malformed)
        let tiff = { (width: Int, height: Int) in
            PictureFiles.tiff(width: width, height: height, bits: 32, format: 3, strip: row)
        }
        #expect(try failure(tiff(16384, 16384), .tiff).kind == .tooLarge)
        #expect([.tooLarge, .malformed].contains(try failure(tiff(0xffff_ffff, 0xffff_ffff), .tiff).kind))
        #expect(try failure(tiff(8192, 8192), .tiff).kind == .malformed)
        for side in [16384, 16385, 0x7fff_ffff] {
            var exr = PictureFiles.exr(width: 2, height: 2, [1, 2, 3, 4])
            let window = PictureFiles.little(1, 4) + PictureFiles.little(1, 4)
            let huge = PictureFiles.little(side - 1, 4) + PictureFiles.little(side - 1, 4)
            for start in exr.indices.dropLast(8) where Array(exr[start..<(start + 8)]) == window {
                exr.replaceSubrange(start..<(start + 8), with: huge)
            }
            #expect([.tooLarge, .malformed].contains(try failure(exr, .openEXR).kind))
        }
    }

    /// Some hundred bytes that would cost gigabytes or half a minute are refused before they are decoded.
    @Test(
        arguments: [
            (16384, 1, .tooLarge, "needs 783 MiB of memory to be decoded, more than 512 MiB"),
            (8000, 200, .tooLarge, "has 200 scans of 8000x8000 pixels, which take too long"),
            // This one is tried: it needs more than a share of the memory, but not too much.
            (8000, 9, .malformed, "is a damaged JPEG"),
        ] as [(Int, Int, PictureFailure.Kind, String)])
    func refusesAProgressiveJPEGThatCostsTooMuch(
        _ side: Int, _ scans: Int, _ kind: PictureFailure.Kind, _ words: String
    ) throws {
        let size = PictureFiles.big(side, 2) + PictureFiles.big(side, 2)
        let scan = JPEGPieces.segment(0xda, [3, 1, 0, 2, 0, 3, 0, 0, 0, 0]) + [0]
        let file =
            [0xff, 0xd8] + JPEGPieces.segment(0xdb, [0] + [UInt8](repeating: 1, count: 64))
            + JPEGPieces.segment(0xc2, [8] + size + [3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0])
            + [[UInt8]](repeating: scan, count: scans).joined() + [0xff, 0xd9]
        let failure = try #require(throws: PictureFailure.self) {
            try decoder.thumbnail(file, orientation: 1, quality: 50)
        }
        #expect(failure.kind == kind && failure.message.hasPrefix(words), "\(failure)")
        // The same process goes on.
        #expect(decoder.idleProcesses.count == 1)
    }

    private func failure(_ file: [UInt8], _ format: PictureDecoder.SampleFormat) throws -> PictureFailure {
        try #require(throws: PictureFailure.self) { try decoder.samples(file, format) }
    }

    static let malformed = (try? Places.shared("malformed-jpeg")?.children) ?? []

    @Test(.enabled(if: Places.shared("malformed-jpeg") != nil, "needs the malformed photos of the shared folder"))
    func survivesTheSharedMalformedPhotos() throws {
        #expect(!Self.malformed.isEmpty)
        for file in Self.malformed {
            let bytes = try file.bytes
            _ = PhotoFacts(jpeg: bytes)
            #expect(PortraitDepth.find(in: bytes) == nil)
            for cut in Damage.cuts(bytes, count: 20) { _ = try? JPEGStructure(cut) }
            for _ in 0..<2 {
                do throws(PictureFailure) { _ = try decoder.thumbnail(bytes, orientation: 1, quality: 80) } catch {
                    let kinds: [PictureFailure.Kind] = [.malformed, .unsupported, .tooLarge]
                    #expect(kinds.contains(error.kind), "\(file.lastPathComponent): \(error.message)")
                }
            }
        }
    }
}
