import CaptureBundle
import PictureMessages

/// The contents of a HEIF photo (HEIC) from a phone.
///
/// Photo and depth are cropped as the file says, but not turned or mirrored.
package struct HEIFPicture: Sendable {
    /// The photo as a JPEG of quality 95, with its ICC profile and no other metadata; nil if the caller did not ask for
    /// it.
    package private(set) var photo: [UInt8]?
    /// How the file turns and mirrors the photo, as EXIF's orientation.
    package private(set) var orientation = 1
    /// EXIF, beginning with the TIFF header.
    package private(set) var exif: [UInt8]?
    /// The codes of the depth picture; nil if the file has none.
    package private(set) var depth: SampleGrid?
    package private(set) var depthMinimum: Double?
    package private(set) var depthMaximum: Double?
    /// Whether the codes are uniform in disparity (true) or in depth (false), according to the file; nil if in neither.
    package private(set) var isDisparity: Bool?
    /// XMP of the depth picture.
    package private(set) var depthXMP: [UInt8]?
}

extension PictureDecoder {
    /// Decodes a HEIF file. Decoding the photo takes most of the time, and is done only if `withPhoto` is true.
    package func heif(_ file: [UInt8], withPhoto: Bool) throws(PictureFailure) -> HEIFPicture {
        HEIFPicture(try request(.heif(withPhoto: withPhoto), file, library: .heif))
    }
}

extension HEIFPicture {
    fileprivate init(_ parts: [DecodedPart]) {
        for part in parts {
            switch part {
            case .samples(let grid): depth = grid
            case .bytes(let head, let bytes): add(head, bytes)
            }
        }
    }

    private mutating func add(_ head: PicturePart, _ bytes: [UInt8]) {
        switch head.kind {
        case .file: (photo, orientation) = (bytes, Int(head.detail))
        case .exif: exif = bytes
        case .depthXMP: depthXMP = bytes
        case .depthFacts:
            guard let facts = HEIFDepthFacts(bytes: bytes) else { return }
            depthMinimum = facts.minimum
            depthMaximum = facts.maximum
            isDisparity = [.uniformDisparity: true, .uniformZ: false][facts.representation]
        default: break
        }
    }
}
