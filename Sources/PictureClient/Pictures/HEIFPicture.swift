import CaptureBundle
package import PictureMessages

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
    /// What the codes mean, according to the file.
    package private(set) var depthFacts: HEIFDepthFacts?
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
            guard case .bytes(let head, let bytes) = part else {
                if case .samples(let grid) = part { depth = grid }
                continue
            }
            switch head.kind {
            case .file: (photo, orientation) = (bytes, Int(head.detail))
            case .exif: exif = bytes
            case .depthXMP: depthXMP = bytes
            case .depthFacts: depthFacts = HEIFDepthFacts(bytes: bytes)
            default: break
            }
        }
    }
}
