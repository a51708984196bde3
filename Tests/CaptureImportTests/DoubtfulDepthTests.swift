import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureTestSupport
import Foundation
import Testing

/// Depth maps that are packed with a warning.
struct DoubtfulDepthTests {
    private func remarks(
        _ samples: [Float], photo: [UInt8] = RawFolder.photo, size: (Int, Int) = (4, 3)
    ) throws -> [Remark] {
        let folder = try TemporaryFolder()
        let metadata = RawFolder.metadata.replacing(
            "\"width\": 4, \"height\": 3", with: "\"width\": \(size.0), \"height\": \(size.1)")
        try RawFolder.write(to: folder, photo: photo, depth: RawFolder.floats(samples), metadata: metadata)
        return try folder.readRaw().remarks
    }

    @Test(
        arguments: [
            ([1669.922], "are above 100 m (median about 1670 m); it looks like millimetres"),
            ([0.0334], "are below 0.05 m (median about 0.0333 m)"), ([3.0e38], "(median more than 1000000 m)"),
            ([0.04, 0.06], "half or more of its measured samples are below 0.05 m (median about 0.0399 m)"),
            ([99, 120], "half or more of its measured samples are above 100 m (median about 120 m)"),
            ([0.01, 3000], "are below 0.05 m (median about 0.00998 m)"), ([0.04999], "(median about 0.0499 m)"),
            ([100.4], "are above 100 m (median just above 100 m)"),
            ([.leastNonzeroMagnitude], "(median less than 0.001 m)"),
            ([.nan, 0, -1, .infinity], "it has no measured sample"),
        ] as [([Float], String)])
    func warnsWithTheMedian(_ samples: [Float], _ words: String) throws {
        let twelve = (0..<12).map { samples[$0 % samples.count] }
        let found = try remarks(twelve).filter { $0.code == "raw.plausible" }
        #expect(found.count == 1 && found.first?.weight == .warning)
        #expect(found.first?.message.contains(words) == true, "\(found)")
    }

    @Test func looksLikeMillimetresOnlyWhereAThousandthIsPlausible() throws {
        for sample in [Float(0.01), 100.4, 110, 99_000, 2_000_000] {
            #expect(
                try remarks([Float](repeating: sample, count: 12)).allSatisfy { !$0.message.contains("millimetres") })
        }
    }

    /// The photo of 8 by 8 samples with other sides, and with an EXIF orientation.
    private func photo(_ width: UInt8, _ height: UInt8, orientation: UInt8? = nil) throws -> [UInt8] {
        var photo = RawFolder.photo
        let frame = try #require(photo.indices.first { photo[$0...].starts(with: [0xff, 0xc0]) })
        (photo[frame + 6], photo[frame + 8]) = (height, width)
        guard let orientation else { return photo }
        let exif =
            Array("Exif\0\0MM\0*".utf8) + [
                0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0,
            ]
        return Array(photo[..<2]) + JPEGPieces.segment(0xe1, exif) + photo[2...]
    }

    @Test(
        arguments: [
            (16, 8, nil, 3, 4, true), (8, 16, nil, 4, 3, true), (16, 8, 1, 3, 4, true), (16, 8, 3, 3, 4, true),
            (16, 8, 6, 3, 4, false), (16, 8, 8, 4, 3, false), (16, 8, nil, 4, 3, false), (8, 8, nil, 3, 4, false),
        ] as [(UInt8, UInt8, UInt8?, Int, Int, Bool)])
    func warnsOfADepthMapAcrossThePhoto(
        _ width: UInt8, _ height: UInt8, _ orientation: UInt8?, _ depthWidth: Int, _ depthHeight: Int, _ warns: Bool
    ) throws {
        let photo = try photo(width, height, orientation: orientation)
        let found = try remarks([Float](repeating: 1, count: 12), photo: photo, size: (depthWidth, depthHeight))
        #expect(found.map(\.code) == (warns ? ["raw.turned"] : []), "\(found)")
    }
}
