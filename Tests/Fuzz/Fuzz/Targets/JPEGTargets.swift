import CaptureBundle
import CaptureTestSupport

@testable import CaptureImport

/// The structure of a JPEG file and the facts in its segments.
enum JPEGTarget: FuzzTarget {
    static let name = "jpeg"

    static func seeds(_ samples: Samples) -> [[UInt8]] { PhotoSeeds.photos }

    static func judge(_ bytes: [UInt8]) {
        let whole = Cost.bounded(bytes.count) { () -> Result<JPEGStructure, JPEGStructure.Failure> in
            _ = PhotoFacts(jpeg: bytes)
            return Result { () throws(JPEGStructure.Failure) in try JPEGStructure(bytes) }
        }
        for size in [1, 1000] {
            let found = inPieces(bytes, of: size)
            let isSame =
                switch (found, whole) {
                case (.success(let found), .success(let whole)): found == whole
                case (.failure(let found), .failure(let whole)): found.message == whole.message
                default: false
                }
            expect(isSame, "in pieces of \(size) the photo gives \(found), expected \(whole)")
        }
    }

    private static func inPieces(_ bytes: [UInt8], of size: Int) -> Result<JPEGStructure, JPEGStructure.Failure> {
        Result { () throws(JPEGStructure.Failure) in
            var walk = JPEGWalk(size: bytes.count)
            for start in stride(from: 0, to: bytes.count, by: size) {
                try walk.consume(Array(bytes[start..<min(start + size, bytes.count)]).span)
            }
            return try walk.finish()
        }
    }
}

/// The pictures after the first in a JPEG file, and the depth that one of them may be.
enum MultiPictureTarget: FuzzTarget {
    static let name = "mpf"

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        [JPEGPieces.photo(andSecond: PhotoSeeds.disparity), PhotoSeeds.photos[0] + PhotoSeeds.disparity]
    }

    static func judge(_ bytes: [UInt8]) {
        let depth = Cost.bounded(bytes.count) { () -> PortraitDepth? in
            if let first = JPEGSegments(bytes) {
                for range in MultiPictureIndex.entries(in: bytes, first: first).compactMap(\.self) {
                    expect(range.lowerBound >= 0 && range.upperBound <= bytes.count, "a picture is outside the file")
                }
            }
            return PortraitDepth.find(in: bytes)
        }
        guard let depth else { return }
        expect(depth.picture.upperBound <= bytes.count, "the depth is outside the file")
        let metres = depth.codes.metres(Array(0...255))
        expect(metres.count == 256, "256 codes give \(metres.count) samples")
    }
}

/// The photo with only the listed segments and fields.
enum PhotoFieldsTarget: FuzzTarget {
    static let name = "photo-fields"

    static func seeds(_ samples: Samples) -> [[UInt8]] { PhotoSeeds.photos + MultiPictureTarget.seeds(samples) }

    static func judge(_ bytes: [UInt8]) {
        guard let fields = Cost.bounded(bytes.count, { try? PhotoFields(bytes) }) else { return }
        expect(fields.others.isEmpty == (fields.photo == bytes), "what was dropped is not named")
        let again = try? PhotoFields(fields.photo)
        expect(again?.others.isEmpty == true && again?.photo == fields.photo, "a second time changes the photo")
        expect(PhotoFacts(jpeg: fields.photo)?.position == nil, "EXIF still has a position")
        expect(JPEGSegments(fields.photo)?.end == fields.photo.count, "the photo does not end at its end marker")
    }
}
