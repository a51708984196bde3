import PictureMessages

/// Why a picture was not decoded. The text continues a sentence that begins with the name of the file.
struct DecodingRefusal: Error {
    let kind: PicturePart.Refusal
    let text: String

    init(_ kind: PicturePart.Refusal, _ text: String) {
        self.kind = kind
        self.text = text
    }

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

/// 8-bit RGB.
struct Pixels {
    let width: Int
    let height: Int
    let bytes: [UInt8]

    var part: AnswerPart { AnswerPart(.pixels, bytes, width: width, height: height) }
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
