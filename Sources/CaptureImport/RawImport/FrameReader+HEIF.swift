import CaptureBundle
import CaptureDevice
import CaptureNative
import PictureClient
import PictureMessages
import SystemPackage

/// A HEIC photo (Spec/raw-captures.md section 6).
extension FrameReader {
    /// Makes a JPEG of a HEIC photo, with the EXIF of the original. The original is carried, unless the bundle must not
    /// tell the position.
    ///
    /// - Throws: `raw.capture` for a file without a photo; the failures of the decoder.
    mutating func convert(_ bytes: [UInt8], _ path: FilePath) throws(BundleError) -> ([UInt8], HEIFPicture) {
        let file = label(path)
        let picture: HEIFPicture
        do { picture = try decoder.heif(bytes, withPhoto: true) } catch { throw error.error(file) }
        guard let photo = picture.photo else {
            throw BundleError(.rawCapture, "is a HEIC file without a photo", file: file)
        }
        try carryOriginal(.heicSource, mediaType: "image/heic", bytes: bytes, file: file)
        return (JPEGExif.insert(JPEGExif.turned(picture.exif, picture.orientation), into: photo), picture)
    }

    /// Carries the original of a converted photo, unless the user asked for a bundle without what it contains.
    mutating func carryOriginal(
        _ path: EntryPath, mediaType: String, bytes: [UInt8], file: FilePath
    ) throws(BundleError) {
        if options.hidesPosition {
            let location = options.location.rawValue
            noteIgnored(file, "is not carried, because --location \(location) does not allow other files")
        } else if options.rewritesPhoto {
            noteIgnored(file, "is not carried, because it has what --rewrite-photo drops")
        } else {
            try carried.add(path, mediaType: mediaType, bytes)
        }
    }
}

extension HEIFPicture {
    /// The quality of the JPEG that the decoder makes.
    static let quality = 95

    /// What Apple's XMP says about the depth map.
    var portrait: PortraitDepth? { depthXMP.flatMap { XMPPacket($0) }.flatMap { PortraitDepth($0) } }

    /// What the depth map's codes mean: by Apple's XMP, else by the file's own description.
    var codes: DepthCodes? {
        portrait?.codes
            ?? depthFacts.flatMap { facts in
                let isDisparity = [.uniformDisparity: true, .uniformZ: false][facts.representation]
                return DepthCodes(minimum: facts.minimum, maximum: facts.maximum, isDisparity: isDisparity)
            }
    }
}

/// EXIF in a JPEG that has none.
enum JPEGExif {
    /// EXIF with an orientation, unless it has one already: its main directory is written again at the end, so that all
    /// values stay where they are.
    static func turned(_ exif: [UInt8]?, _ orientation: Int) -> [UInt8]? {
        guard (2...8).contains(orientation), PhotoFacts(exif: exif ?? [])?.orientation ?? 1 == 1 else { return exif }
        let empty: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        var bytes = exif ?? empty
        guard let tiff = TIFFStructure(bytes) else { return exif }
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return bytes[0] == 0x49 ? little : little.reversed()
        }
        let start = tiff.firstDirectory + 2
        let end = start + 12 * (tiff.number(at: start - 2, length: 2) ?? 0)
        guard start >= 10, end + 4 <= bytes.count else { return exif }
        func entries(_ isKept: (Int) -> Bool) -> [[UInt8]] {
            let places = stride(from: start, to: end, by: 12)
            return places.filter { isKept(tiff.number(at: $0, length: 2) ?? 0) }.map { Array(bytes[$0..<($0 + 12)]) }
        }
        let own = number(0x0112, 2) + number(3, 2) + number(1, 4) + number(orientation, 2) + [0, 0]
        let all = entries { $0 < 0x0112 } + [own] + entries { $0 > 0x0112 }
        let next = Array(bytes[end..<(end + 4)])
        if bytes.count % 2 == 1 { bytes.append(0) }
        bytes.replaceSubrange(4..<8, with: number(bytes.count, 4))
        return bytes + number(all.count, 2) + all.joined() + next
    }

    /// Puts EXIF behind the start marker; the same photo if there is no EXIF, or more than a segment holds.
    static func insert(_ exif: [UInt8]?, into jpeg: [UInt8]) -> [UInt8] {
        let header = TIFFStructure.exifMark
        guard let exif, !exif.isEmpty, exif.count + header.count + 2 <= 0xffff else { return jpeg }
        let length = exif.count + header.count + 2
        let segment = [0xff, 0xe1, UInt8(length >> 8), UInt8(length & 0xff)] + header + exif
        return Array(jpeg.prefix(2)) + segment + jpeg.dropFirst(2)
    }
}

/// Reads a depth map inside the photo (Spec/raw-captures.md section 6).
extension FrameReader {
    mutating func depthInside(_ photo: FramePhoto) throws(BundleError) -> DepthFloats {
        let file = photo.capture.file
        if let original = photo.original {
            guard let grid = original.depth, let codes = original.codes else { throw Self.noDepth(photo, file) }
            portrait = original.portrait
            return try floats(grid, codes: codes, file: file)
        }
        guard let found = PortraitDepth.find(in: photo.bytes) else { throw Self.noDepth(photo, file) }
        let grid: SampleGrid
        do {
            grid = try decoder.samples(Array(photo.bytes[found.picture]), .jpeg)
        } catch {
            throw error.error(file, code: .rawDepth)
        }
        portrait = found
        return try floats(grid, codes: found.codes, file: file)
    }

    private func floats(_ grid: SampleGrid, codes: DepthCodes, file: FilePath) throws(BundleError) -> DepthFloats {
        guard case .uint8(let values) = grid.values else {
            throw BundleError(.rawDepth, "has a depth map whose samples do not have 8 bits", file: file)
        }
        return try DepthFloats(
            [UInt8](littleEndian: codes.metres(values)), size: grid.size, file: file,
            source: DepthDescription.Source(
                encoding: codes.isDisparity ? "apple-disparity-u8" : "apple-depth-u8", invalid: "zero",
                rowOrder: "top-first", scale: "1"))
    }

    private static func noDepth(_ photo: FramePhoto, _ file: FilePath) -> BundleError {
        let missing = photo.original == nil ? MultiPictureIndex.missing(in: photo.bytes) : 0
        guard missing == 0 else {
            return BundleError(
                .rawDepth,
                "lists \(missing) more picture\(missing == 1 ? "" : "s") than it has, such as a depth map: another program rewrote the photo",
                file: file, cause: .rewrittenPhoto)
        }
        return BundleError(
            .rawDepth, "is a photo without a depth map of a kind that pack knows (Apple portrait)", file: file,
            cause: .noDepthInside)
    }
}
