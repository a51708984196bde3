import PictureMessages

/// The decoders of this process.
final class Decoders {
    /// A library that was asked for and is not installed.
    private(set) var missing: PictureLibrary?
    private(set) var needs = Sandbox.Needs()
    private let jpeg: JPEGDecoder

    /// Nil if memory runs out.
    init?(_ libraries: Set<PictureLibrary>) {
        guard let jpeg = JPEGDecoder() else { return nil }
        self.jpeg = jpeg
    }

    func warmUp() { jpeg.warmUp() }

    func answer(_ task: PictureRequest.Task, _ bytes: [UInt8]) throws(DecodingRefusal) -> [AnswerPart] {
        switch task {
        case .samples(let format): [try samples(bytes, format).part]
        case .pixels(.jpeg, let eighths): [try jpeg.pixels(bytes, eighths: eighths).part]
        case .pixels(.png, _): [try PNGDecoder.pixels(bytes).part]
        case .thumbnail(let orientation, let quality):
            [try file(jpeg.pixels(bytes, eighths: 1).upright(orientation), quality)]
        case .png(let width, let height):
            [
                AnswerPart(
                    .file, try PNGDecoder.encode(width: width, height: height, rgb: bytes), width: width,
                    height: height)
            ]
        case .jpeg(let width, let height, let quality):
            [try file(Pixels(width: width, height: height, bytes: bytes), quality)]
        case .heif: throw DecodingRefusal(.unsupported, "is a HEIF file")
        }
    }

    private func samples(
        _ bytes: [UInt8], _ format: PictureRequest.SampleFormat
    ) throws(DecodingRefusal) -> Samples {
        switch format {
        case .png: try PNGDecoder.samples(bytes)
        case .jpeg: try jpeg.samples(bytes)
        case .openEXR: try OpenEXRDecoder.samples(bytes)
        case .tiff: throw DecodingRefusal(.unsupported, "is a TIFF file")
        }
    }

    private func file(_ pixels: Pixels, _ quality: Int) throws(DecodingRefusal) -> AnswerPart {
        AnswerPart(.file, try jpeg.encode(pixels, quality: quality), width: pixels.width, height: pixels.height)
    }
}
