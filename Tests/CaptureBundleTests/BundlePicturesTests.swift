import CaptureBundle
import CaptureDevice
import CaptureImport
import CapturePages
import CaptureTestSupport
import Foundation
import PictureClient
import PictureMessages
import SystemPackage
import Testing

/// What a page shows of a bundle: its contents and its pictures, from one reading.
struct BundlePicturesTests {
    private let folder: TemporaryFolder
    private let key: DeviceKeyFile
    private let decoder = PictureDecoder(executable: FilePath(Places.product("capbundle-decode").path()))

    init() throws {
        folder = try TemporaryFolder()
        key = DeviceKeyFile(path: folder.path("keys/device.key"))
        _ = try key.create(passphrase: nil)
    }

    /// A picture whose left half is red and whose right half is blue.
    private func halves(_ width: Int, _ height: Int) throws -> [UInt8] {
        let row = (0..<width).flatMap { $0 < width / 2 ? [220, 0, 0] : [0, 0, 220] as [UInt8] }
        let image = try #require(PixelImage(width: width, height: height, rgb: (0..<height).flatMap { _ in row }))
        return try decoder.jpeg(image, quality: 90)
    }

    private func view(photo: [UInt8]) throws -> BundleView {
        try RawFolder.write(to: folder, photo: photo)
        _ = try Packer(key: key).pack(folder.path("raw"), to: .replacing(folder.path("a.bundle")))
        var trust = TrustFile()
        try trust.add(TrustedDeviceLine(name: "rig", point: key.publicKey()))
        return try Verifier(trust: trust).view(BundleSource(path: folder.path("a.bundle")))
    }

    @Test func aViewHasTheReportAndTheContents() throws {
        let view = try view(photo: RawFolder.photo)
        #expect(view.isSound && view.report.verdict == .verified && view.report.trustedDevice?.name == "rig")
        #expect(view.photo == RawFolder.photo && view.file == folder.path("a.bundle"))
        #expect(view.position?.latitude == "12.345678" && view.position?.longitude == "-45.678901")
        #expect(view.depthStatistics?.minimum == 0.5 && view.depthStatistics?.maximum == 5)
    }

    /// The marker segments of a JPEG before its scan: APP1 … APP15 and COM contain all metadata.
    private static func metadataSegments(_ jpeg: [UInt8]) -> [UInt8] {
        var (found, at): ([UInt8], Int) = ([], 2)
        while at + 4 <= jpeg.count, jpeg[at] == 0xff, jpeg[at + 1] != 0xda {
            if (0xe1...0xef).contains(jpeg[at + 1]) || jpeg[at + 1] == 0xfe { found.append(jpeg[at + 1]) }
            at += 2 + Int(jpeg[at + 2]) << 8 + Int(jpeg[at + 3])
        }
        return found
    }

    /// TIFF, big endian, with one entry: orientation 6, so the left side of the stored photo is its top.
    private static let turned: [UInt8] =
        Array("Exif".utf8) + [0, 0, 0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6]
        + [0, 0, 0, 0, 0, 0]

    @Test(
        arguments: [
            (.large, 3000, 300, 128, 1280), (.small, 640, 480, 240, 320), (.large, 90, 70, 70, 90),
        ] + (isLongRun ? [(.small, 2417, 1811, 227, 303), (.large, 2417, 1811, 906, 1209)] : [])
            as [(BundlePictures.Size, Int, Int, Int, Int)])
    func picturesAreUprightAndWithoutMetadata(
        _ size: BundlePictures.Size, _ width: Int, _ height: Int, _ shownWidth: Int, _ shownHeight: Int
    ) throws {
        let jpeg = try halves(width, height)
        let photo = Array(jpeg[..<2]) + JPEGPieces.segment(0xe1, Self.turned) + jpeg[2...]
        #expect(Self.metadataSegments(photo) == [0xe1])
        let made = BundlePictures(size, decoder: decoder).pictures(of: try view(photo: photo))
        #expect(made.reason == nil && made.depthSpan == 0.5...5)
        let shown = try #require(made.photo)
        #expect((shown.width, shown.height) == (shownWidth, shownHeight))
        #expect(Self.metadataSegments(shown.bytes).isEmpty)
        let pixels = try decoder.pixels(shown.bytes, .jpeg)
        #expect((pixels.width, pixels.height) == (shownWidth, shownHeight))
        #expect(pixels[shownWidth / 2, 0].red > 180 && pixels[shownWidth / 2, shownHeight - 1].blue > 180)
        let depth = try #require(made.depth)
        #expect(Self.metadataSegments(depth.bytes).isEmpty && depth.bytes.starts(with: [0xff, 0xd8]))
    }

    @Test func aPhotoThatCannotBeDecodedIsAReason() throws {
        var photo = try halves(320, 240)
        // The frame header says 99 bits for each sample.
        let header = try #require(photo.indices.first { photo[$0...].starts(with: [0xff, 0xc0, 0, 17, 8]) })
        photo[header + 4] = 99
        let made = BundlePictures(decoder: decoder).pictures(of: try view(photo: photo))
        let (hasPhoto, hasDepth) = (made.photo != nil, made.depth != nil)
        #expect(!hasPhoto && hasDepth)
        #expect(try #require(made.reason).hasPrefix("the photo "))
    }

    @Test func aDamagedBundleGivesNoContentsAndNoPictures() throws {
        _ = try view(photo: RawFolder.photo)
        var bytes = try folder.bytes("a.bundle")
        let at = try #require(bytes.indices.first { bytes[$0...].starts(with: RawFolder.photo) })
        bytes[at + 30] ^= 1
        let view = try Verifier(trust: TrustFile()).view(BundleSource(bytes: bytes))
        #expect(!view.isSound && view.report.verdict == .altered)
        #expect(view.photo == nil && view.position == nil && view.depthStatistics == nil)
        let made = BundlePictures(decoder: decoder).pictures(of: view)
        #expect(made.photo == nil && made.depth == nil && made.reason == nil)
    }
}
