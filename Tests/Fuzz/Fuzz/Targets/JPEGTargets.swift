import CaptureTestSupport

@testable import CaptureBundle

/// The structure of a JPEG file and the facts in its segments.
enum JPEGTarget: FuzzTarget {
    static let name = "jpeg"

    static func seeds(_ samples: Samples) -> [[UInt8]] { PhotoSeeds.photos }

    static func judge(_ bytes: [UInt8]) {
        let whole = Cost.bounded(bytes.count) { () -> Result<JPEGStructure, JPEGStructure.Failure> in
            _ = PhotoFacts(jpeg: bytes)
            _ = PlacesTold.tellsAPosition(bytes, kind: .jpeg)
            return Result { () throws(JPEGStructure.Failure) in try JPEGStructure(bytes) }
        }
        for size in [1, 1000] {
            let found = inPieces(bytes, of: size)
            expect(found == whole, "in pieces of \(size) the photo gives \(found), expected \(whole)")
        }
    }

    private static func inPieces(_ bytes: [UInt8], of size: Int) -> Result<JPEGStructure, JPEGStructure.Failure> {
        Result { () throws(JPEGStructure.Failure) in
            var walk = JPEGWalk(size: bytes.count)
            for start in stride(from: 0, to: bytes.count, by: size) {
                try walk.take(Array(bytes[start..<min(start + size, bytes.count)]).span)
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
                for range in MultiPictureIndex.images(in: bytes, first: first) {
                    expect(range.lowerBound >= 0 && range.upperBound <= bytes.count, "a picture is outside the file")
                }
            }
            return PortraitDepth.find(in: bytes)
        }
        guard let depth else { return }
        expect(depth.picture.upperBound <= bytes.count, "the depth is outside the file")
        let metres = depth.convert(codes: Array(0...255))
        expect(metres.count == 256, "256 codes give \(metres.count) samples")
    }
}

/// The removal of the position from a photo.
enum PositionRemovalTarget: FuzzTarget {
    static let name = "position-removal"

    static func seeds(_ samples: Samples) -> [[UInt8]] { PhotoSeeds.photos + MultiPictureTarget.seeds(samples) }

    static func judge(_ bytes: [UInt8]) {
        guard let clean = Cost.bounded(bytes.count, { try? PositionRemoval.apply(to: bytes) }) else { return }
        expect(clean.count == bytes.count, "the removal changes the length")
        expect(PlacesTold.tellsAPosition(clean, kind: .jpeg) == nil, "a position is still told")
        expect(PhotoFacts(jpeg: clean)?.position == nil, "EXIF still has a position")
        expect((try? PositionRemoval.apply(to: clean)) == clean, "a second removal changes the photo")
        let changed = bytes.indices.filter { bytes[$0] != clean[$0] }
        // This list of the bytes that may change is made here again, so that it does not depend on the removal.
        var mayChange: [Range<Int>] = []
        for image in MultiPictureIndex.walk(bytes).images {
            mayChange += image.segments.filter { (0xe0...0xfe).contains($0.marker) }
                .flatMap { [$0.range.lowerBound + 1..<$0.range.lowerBound + 2, $0.data] }
        }
        expect(
            changed.allSatisfy { index in mayChange.contains { $0.contains(index) } },
            "a byte outside the segments of applications changed")
        let structure = try? JPEGStructure(bytes)
        expect((try? JPEGStructure(clean))?.size == structure?.size, "the photo has another size")
    }
}
