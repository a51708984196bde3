/// A request of the tools to `capbundle-decode` for one picture: a head of 24 bytes, then the bytes of the picture.
///
/// The head, with numbers in little-endian order: `CBQ1`; task, detail and quality, one byte each; 1 if the request may
/// use all memory, or 0; width and height, four bytes each; the number of bytes that follow, in seven bytes; a zero.
package struct PictureRequest: Hashable, Sendable {
    package enum SampleFormat: UInt8, Sendable, CaseIterable { case png = 1, tiff, openEXR, jpeg }
    package enum PixelFormat: UInt8, Sendable, CaseIterable { case jpeg = 1, png }

    package enum Task: Hashable, Sendable {
        /// Decode a picture with one channel to samples. The bytes begin with the name of the channel to take, which has
        /// this number of bytes; 0 takes the only one.
        case samples(SampleFormat, nameCount: Int)
        /// Decode a picture to 8-bit RGB. A JPEG can be reduced to 1, 2 or 4 eighths of its size.
        case pixels(PixelFormat, eighths: Int)
        /// Reduce a JPEG to an upright JPEG of an eighth of its size. The EXIF orientation is 1 to 8.
        case thumbnail(orientation: Int, quality: Int)
        /// Encode 8-bit RGB as PNG.
        case png(width: Int, height: Int)
        /// Encode 8-bit RGB as JPEG.
        case jpeg(width: Int, height: Int, quality: Int)
        /// Decode the metadata and the depth picture of a HEIF file, and its photo to a JPEG if `withPhoto` is true.
        case heif(withPhoto: Bool)
    }

    package let task: Task
    /// The number of bytes that follow the head.
    package let byteCount: Int
    /// Whether decoding may use `PictureLimits.memoryBytes` and not only `memoryShare`.
    package let hasAllMemory: Bool

    package static let headCount = 24
    private static let mark: [UInt8] = Array("CBQ1".utf8)

    package init(_ task: Task, byteCount: Int, hasAllMemory: Bool) {
        self.task = task
        self.byteCount = byteCount
        self.hasAllMemory = hasAllMemory
    }

    package var head: [UInt8] {
        let (code, detail, quality, width, height) =
            switch task {
            case .samples(let format, let nameCount): (1, Int(format.rawValue), 0, nameCount, 0)
            case .pixels(let format, let eighths): (2, Int(format.rawValue), eighths, 0, 0)
            case .thumbnail(let orientation, let quality): (3, orientation, quality, 0, 0)
            case .png(let width, let height): (4, 0, 0, width, height)
            case .jpeg(let width, let height, let quality): (5, 0, quality, width, height)
            case .heif(let withPhoto): (6, withPhoto ? 1 : 0, 0, 0, 0)
            }
        var bytes = Self.mark
        for number in [code, detail, quality, hasAllMemory ? 1 : 0] { bytes.append(number: number, bytes: 1) }
        bytes.append(number: width, bytes: 4)
        bytes.append(number: height, bytes: 4)
        bytes.append(number: byteCount, bytes: 8)
        return bytes
    }

    /// Parses a head; nil if the bytes are not a head, or a size in it is above the limits.
    package init?(head: [UInt8]) {
        guard head.count == Self.headCount, head.starts(with: Self.mark), head[7] < 2, head[23] == 0 else {
            return nil
        }
        let (detail, quality) = (Int(head[5]), Int(head[6]))
        let (width, height) = (head.number(at: 8, bytes: 4), head.number(at: 12, bytes: 4))
        byteCount = head.number(at: 16, bytes: 7)
        hasAllMemory = head[7] == 1
        guard byteCount <= PictureLimits.fileBytes else { return nil }
        switch head[4] {
        case 1:
            guard let format = SampleFormat(rawValue: head[5]), width <= min(PictureLimits.channelBytes, byteCount)
            else { return nil }
            task = .samples(format, nameCount: width)
        case 2:
            guard let format = PixelFormat(rawValue: head[5]), [1, 2, 4, 8].contains(quality) else { return nil }
            task = .pixels(format, eighths: quality)
        case 3:
            guard (1...8).contains(detail), (1...100).contains(quality) else { return nil }
            task = .thumbnail(orientation: detail, quality: quality)
        case 4, 5:
            guard PictureLimits.bytes(width: width, height: height, each: 3) == byteCount else { return nil }
            guard head[4] == 4 || (1...100).contains(quality) else { return nil }
            task =
                head[4] == 4
                ? .png(width: width, height: height) : .jpeg(width: width, height: height, quality: quality)
        case 6: task = .heif(withPhoto: detail == 1)
        default: return nil
        }
    }
}
