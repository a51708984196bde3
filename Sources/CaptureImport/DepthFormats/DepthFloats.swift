import CaptureBundle
import CaptureNative
import SystemPackage

/// A depth map in the form for a bundle.
struct DepthFloats {
    /// Float32 little-endian, row-major, top row first, in metres.
    let floats: PayloadContent
    let size: DepthSize
    let sha256: Digest
    let survey: DepthSurvey
    /// The form of the original file.
    let source: DepthDescription.Source
    /// What the user must know about how the samples were read.
    private(set) var notes: [String] = []
    /// How the file says that its picture is turned, as EXIF does.
    private(set) var orientation: Int?

    init(
        _ bytes: [UInt8], _ size: DepthSize, _ source: DepthDescription.Source, notes: [String] = [],
        orientation: Int? = nil
    ) throws(BundleError) {
        var survey = DepthSurvey()
        survey.add(bytes.span)
        (floats, self.size, sha256) = (.bytes(bytes), size, try Digest.of(bytes))
        (self.survey, self.source, self.notes, self.orientation) = (survey, source, notes, orientation)
    }

    /// Reads a file of floats in metres in pieces.
    init(_ file: FileHandle, _ size: DepthSize, _ label: FilePath) throws(BundleError) {
        var survey = DepthSurvey()
        sha256 = try PayloadContent.hash(file, name: label.string, expecting: size.byteCount) { survey.add($0) }
        (floats, self.size) = (.file(file, name: label.string), size)
        (self.survey, source) = (survey, .plain)
    }
}
