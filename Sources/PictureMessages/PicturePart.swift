/// The head of a part of an answer of `capbundle-decode`. The contents of the part, `byteCount` bytes, follow it.
///
/// A new process first sends a part `ready`, or `failure` and nothing more. An answer is a list of parts that ends with
/// `end` or `failure`. With the argument `archive`, the process reads an archive instead of requests from standard
/// input, and its only answer has the members of the archive in their order.
///
/// A head has 24 bytes, with numbers in little-endian order: `CBA1`; kind, detail and bits, one byte each; a zero; width
/// and height, four bytes each; the number of bytes that follow, in seven bytes; a zero.
package struct PicturePart: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
        /// The process is in its sandbox; `detail` is the version of these messages.
        case ready = 1
        /// Samples in the byte order of the machine, row-major; `detail` is the code of their `SampleType`.
        case samples
        /// 8-bit RGB, row-major.
        case pixels
        /// A complete JPEG or PNG file; width and height are those of its picture. Of a HEIF file, `detail` is the
        /// orientation as EXIF has it.
        case file
        case exif
        /// The XMP of the depth picture of a HEIF file.
        case depthXMP
        /// Width and height of the depth picture of a HEIF file; the bytes are those of `HEIFDepthFacts`.
        case depthFacts
        /// The decoder could not answer. The bytes are the reason as text, and `detail` is a `Refusal`.
        case failure
        case end
        /// A regular file of an archive begins; the bytes are its name.
        case archiveFile
        /// A member of an archive that is neither a regular file nor a folder; the bytes are its name.
        case archiveOther
        /// The next bytes of the archive's file.
        case archiveBytes
        /// A text about how the samples were read. It continues a sentence that begins with the name of the file.
        case note
    }

    package enum Refusal: UInt8, Sendable {
        case malformed = 1, unsupported, tooLarge
        /// A library is not installed. The text is its name, a space, and the Debian package that contains it.
        case missing
        /// The kernel refused the sandbox, so nothing was decoded.
        case noSandbox
        /// The picture needs more memory than the request allows. The same request with `hasAllMemory` can succeed.
        case needsAllMemory
        /// Several channels could be the depth map. The text is the name of one that probably is, a newline, and the
        /// reason.
        case channels
    }

    package let kind: Kind
    package var detail: UInt8 = 0
    /// The number of bits of each sample in the file, if that is less than the type of the samples has; otherwise 0.
    package var bits: UInt8 = 0
    package var width = 0
    package var height = 0
    package var byteCount = 0

    package static let version: UInt8 = 4
    package static let headCount = 24
    private static let mark: [UInt8] = Array("CBA1".utf8)

    package init(
        _ kind: Kind, detail: UInt8 = 0, bits: UInt8 = 0, width: Int = 0, height: Int = 0, byteCount: Int = 0
    ) {
        self.kind = kind
        self.detail = detail
        self.bits = bits
        self.width = width
        self.height = height
        self.byteCount = byteCount
    }

    package var head: [UInt8] {
        var bytes = Self.mark + [kind.rawValue, detail, bits, 0]
        bytes.append(number: width, bytes: 4)
        bytes.append(number: height, bytes: 4)
        bytes.append(number: byteCount, bytes: 8)
        return bytes
    }

    /// Parses a head; nil if the bytes are not a head, or it announces more bytes than a part of its kind may have.
    package init?(head: [UInt8]) {
        guard head.count == Self.headCount, head.starts(with: Self.mark), head[7] == 0, head[23] == 0,
            let kind = Kind(rawValue: head[4])
        else { return nil }
        self.init(
            kind, detail: head[5], bits: head[6], width: head.number(at: 8, bytes: 4),
            height: head.number(at: 12, bytes: 4),
            byteCount: head.number(at: 16, bytes: 7))
        guard hasPossibleCount else { return nil }
    }

    private var hasPossibleCount: Bool {
        switch kind {
        case .samples:
            SampleType(code: detail).map {
                bits < 8 * $0.byteCount
                    && byteCount == PictureLimits.bytes(width: width, height: height, each: $0.byteCount)
            } ?? false
        case .pixels: byteCount == PictureLimits.bytes(width: width, height: height, each: 3)
        case .file: byteCount <= PictureLimits.decodedBytes
        case .exif, .depthXMP: byteCount <= PictureLimits.metadataBytes
        case .depthFacts: byteCount == HEIFDepthFacts.byteCount
        case .archiveFile, .archiveOther: byteCount <= PictureLimits.nameBytes
        case .archiveBytes: byteCount <= PictureLimits.pieceBytes
        case .failure: byteCount <= PictureLimits.messageBytes && Refusal(rawValue: detail) != nil
        case .note: byteCount <= PictureLimits.messageBytes
        case .ready, .end: byteCount == 0
        }
    }
}

/// What a HEIF file says about its depth picture, in HEVC's SEI message "depth representation information".
package struct HEIFDepthFacts: Hashable, Sendable {
    /// The meaning of a code.
    package enum Representation: UInt8, Sendable {
        case unknown, uniformInverseZ, uniformDisparity, uniformZ, nonuniformDisparity
    }

    package var representation = Representation.unknown
    package var minimum: Double?
    package var maximum: Double?

    static let byteCount = 24

    package init() {}

    /// The encoding for a part: the representation, then for each number a byte that is 1 if the file has the number, and
    /// the bits of the number.
    package var bytes: [UInt8] {
        var bytes = [representation.rawValue]
        for number in [minimum, maximum] {
            bytes.append(number == nil ? 0 : 1)
            bytes.append(number: Int(truncatingIfNeeded: (number ?? 0).bitPattern), bytes: 8)
        }
        return bytes + [UInt8](repeating: 0, count: Self.byteCount - bytes.count)
    }

    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, let representation = Representation(rawValue: bytes[0]) else { return nil }
        self.representation = representation
        minimum = Self.number(bytes[1..<10])
        maximum = Self.number(bytes[10..<19])
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Double? {
        guard bytes.first == 1 else { return nil }
        return Double(bitPattern: bytes.dropFirst().reversed().reduce(0) { $0 << 8 | UInt64($1) })
    }
}

/// The type of the samples in a file, with its letter and the number of its bits.
package enum SampleType: String, Sendable, CaseIterable {
    case uint8 = "u8", uint16 = "u16", uint32 = "u32", int16 = "i16", int32 = "i32"
    case float16 = "f16", float32 = "f32", float64 = "f64"

    private var letter: String { rawValue.cut(to: 1) }
    private var bits: Int { Int(rawValue.without(first: 1)) ?? 0 }

    /// The number of bytes of a sample.
    package var byteCount: Int { bits / 8 }

    package var isFloat: Bool { letter == "f" }
    package var isSigned: Bool { letter != "u" }

    /// NumPy's name, with the number of bytes, such as `u2`.
    package var numpyName: String { "\(letter)\(byteCount)" }

    /// The highest number of a type of integers; 0 for floats.
    package var highest: UInt32 { isFloat ? 0 : UInt32.max >> UInt32((letter == "i" ? 33 : 32) - bits) }

    /// The number in a message.
    package var code: UInt8 { UInt8(Self.allCases.firstIndex(of: self) ?? 0) }

    package init?(code: UInt8) {
        guard Int(code) < Self.allCases.count else { return nil }
        self = Self.allCases[Int(code)]
    }
}

extension [UInt8] {
    /// Appends the `count` lowest bytes of a number, the least significant first.
    mutating func append(number: Int, bytes count: Int) {
        for index in 0..<count { append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }

    /// The number in the `count` bytes at `offset`, at most 7, the least significant first. They must be inside the
    /// array.
    package func number(at offset: Int, bytes count: Int) -> Int {
        self[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
