import PictureMessages

/// The decoders of this process.
final class Decoders {
    /// A library that the command line names and that is not installed.
    private(set) var missing: PictureLibrary?
    private let jpeg: JPEGDecoder
    private var tiff: TIFFDecoder?
    private var heif: HEIFDecoder?
    private(set) var archive: ArchiveUnpacker?

    /// Loads the libraries; nil if memory runs out.
    init?(_ libraries: Set<PictureLibrary>) {
        guard let jpeg = JPEGDecoder() else { return nil }
        self.jpeg = jpeg
        jpeg.warmUp()
        if libraries.contains(.tiff) {
            tiff = TIFFDecoder()
            if tiff == nil { missing = .tiff }
        }
        if libraries.contains(.heif) {
            heif = HEIFDecoder()
            if heif == nil { missing = .heif }
        }
        if libraries.contains(.archive) {
            archive = ArchiveUnpacker()
            if archive == nil { missing = .archive }
        }
    }

    func answer(_ request: PictureRequest, _ bytes: [UInt8]) throws(DecodingRefusal) -> [AnswerPart] {
        let memory = MemoryShare(request: request)
        switch request.task {
        case .samples(let format, let nameCount):
            let name = nameCount == 0 ? nil : String(decoding: bytes.prefix(nameCount), as: UTF8.self)
            let file = nameCount == 0 ? bytes : Array(bytes.dropFirst(nameCount))
            return try samples(file, as: format, channel: name, memory: memory).parts
        case .pixels(.jpeg, let eighths): return [try jpeg.pixels(bytes, eighths: eighths, memory).part]
        case .pixels(.png, _): return [try PNGDecoder.pixels(bytes, memory).part]
        case .thumbnail(let orientation, let quality):
            return [try file(jpeg.pixels(bytes, eighths: 1, memory).upright(orientation), quality)]
        case .png(let width, let height):
            // libspng enlarges the file by copying it.
            try memory.require(2 * bytes.count)
            let file = try PNGDecoder.encode(width: width, height: height, rgb: bytes)
            return [AnswerPart(.file, file, width: width, height: height)]
        case .jpeg(let width, let height, let quality):
            try memory.require(bytes.count)
            return [try file(PixelImage(width, height, bytes), quality)]
        case .heif(let withPhoto):
            guard let heif else { throw Self.notLoaded }
            return try heif.parts(bytes, memory, encoder: withPhoto ? jpeg : nil)
        }
    }

    private func samples(
        _ bytes: [UInt8], as format: PictureRequest.SampleFormat, channel: String?, memory: MemoryShare
    ) throws(DecodingRefusal) -> Samples {
        switch format {
        case .png: try PNGDecoder.samples(bytes, memory)
        case .jpeg: try jpeg.samples(bytes, memory)
        case .openEXR: try OpenEXRDecoder.samples(bytes, channel: channel, memory)
        case .tiff:
            if let tiff { try tiff.samples(bytes, memory) } else { throw Self.notLoaded }
        }
    }

    /// The refusal if the command line did not name the library. The tools always name it.
    private static let notLoaded = DecodingRefusal.unsupported("needs a library that this process was not started with")

    private func file(_ pixels: PixelImage, _ quality: Int) throws(DecodingRefusal) -> AnswerPart {
        AnswerPart(.file, try jpeg.encode(pixels, quality: quality), width: pixels.width, height: pixels.height)
    }
}

/// Why a picture was not decoded. The text continues a sentence that begins with the name of the file.
struct DecodingRefusal: Error {
    let kind: PicturePart.Refusal
    let text: String

    init(_ kind: PicturePart.Refusal, _ text: String) {
        self.kind = kind
        self.text = text
    }

    static func malformed(_ text: String) -> DecodingRefusal { DecodingRefusal(.malformed, text) }

    static func unsupported(_ text: String) -> DecodingRefusal { DecodingRefusal(.unsupported, text) }

    static let tooLarge = DecodingRefusal(
        .tooLarge,
        "has a side of more than \(PictureLimits.side) pixels, or more than \(PictureLimits.decodedBytes >> 20) MiB")
}

struct AnswerPart {
    let head: PicturePart
    let bytes: [UInt8]

    init(
        _ kind: PicturePart.Kind, _ bytes: [UInt8] = [], detail: UInt8 = 0, bits: UInt8 = 0, width: Int = 0,
        height: Int = 0
    ) {
        self.bytes = bytes
        head = PicturePart(
            kind, detail: detail, bits: bits, width: width, height: height, byteCount: bytes.count)
    }

    init(_ refusal: DecodingRefusal) {
        self.init(
            .failure, Array(refusal.text.cut(to: PictureLimits.messageBytes).utf8), detail: refusal.kind.rawValue)
    }
}

extension PixelImage {
    /// A picture that was decoded.
    init(_ width: Int, _ height: Int, _ rgb: [UInt8]) throws(DecodingRefusal) {
        guard let image = PixelImage(width: width, height: height, rgb: rgb) else { throw .tooLarge }
        self = image
    }

    var part: AnswerPart { AnswerPart(.pixels, rgb, width: width, height: height) }
}

extension String {
    /// Copies a text of a C library; empty for a null pointer.
    init(library text: UnsafePointer<CChar>?) {
        guard let text = unsafe text else {
            self = ""
            return
        }
        unsafe self = String(cString: text).cut(to: 200)
    }
}
