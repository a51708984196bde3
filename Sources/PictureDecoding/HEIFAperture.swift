import PictureMessages

/// The clean aperture of a picture in a HEIF file: the part of the coded picture that is to be shown (ISO/IEC 14496-12
/// section 12.1.4, 23008-12 section 6.5.9). Encoders that pad a picture say with it what the padding is.
///
/// libheif 1.15 crops a picture only together with turning it, so the boxes are read here.
struct HEIFAperture {
    private let width: Int
    private let height: Int
    /// Twice the distance of the aperture's centre from the picture's centre.
    private let twiceRight: Int
    private let twiceDown: Int

    /// Reads the aperture of an item; nil if it has none.
    static func find(_ item: Int, in file: [UInt8]) throws(DecodingRefusal) -> HEIFAperture? {
        var found: HEIFAperture?
        var isTurned = false
        for property in properties(of: item, in: file) {
            switch property.kind {
            case "irot", "imir": isTurned = true
            case "clap":
                // Cropping comes before turning (ISO/IEC 23000-22 section 7.3.6.7).
                guard !isTurned, found == nil else { throw unknown }
                found = try HEIFAperture(property.content)
            default: break
            }
        }
        return found
    }

    /// EXIF's orientation for how the file turns and mirrors an item (23008-12 sections 6.5.10 and 6.5.12).
    static func orientation(of item: Int, in file: [UInt8]) -> UInt8 {
        var (quarters, isMirrored) = (0, false)
        for property in properties(of: item, in: file) {
            let value = Int(property.content.first ?? 0)
            switch property.kind {
            case "irot": quarters += value & 3
            // 1 exchanges left and right, 0 top and bottom.
            case "imir": (quarters, isMirrored) = ((value & 1 == 1 ? 4 : 6) - quarters % 4, !isMirrored)
            default: break
            }
        }
        return (isMirrored ? [2, 5, 4, 7] : [1, 8, 3, 6])[quarters % 4]
    }

    /// The properties of an item, in their order.
    private static func properties(of item: Int, in file: [UInt8]) -> [Box] {
        guard let meta = Box.list(file[...]).first(where: { $0.kind == "meta" }),
            let properties = Box.list(meta.content.dropFirst(4)).first(where: { $0.kind == "iprp" })
        else { return [] }
        let boxes = Box.list(properties.content)
        guard let known = boxes.first(where: { $0.kind == "ipco" }).map({ Box.list($0.content) }) else { return [] }
        let lists = boxes.filter { $0.kind == "ipma" }.compactMap { associations(of: item, $0.content) }
        return lists.joined().filter { known.indices.contains($0 - 1) }.map { known[$0 - 1] }
    }

    private static let unknown = DecodingRefusal.unsupported(
        "is a HEIF file with a clean aperture (clap) of an unknown kind, expected one in whole pixels")

    /// The numbers of the properties of an item, in their order; nil if the box has none of the item.
    private static func associations(of item: Int, _ content: ArraySlice<UInt8>) -> [Int]? {
        var reader = Reader(content)
        guard let version = reader.number(1), let flags = reader.number(3), let count = reader.number(4) else {
            return nil
        }
        for _ in 0..<count {
            guard let id = reader.number(version < 1 ? 2 : 4), let each = reader.number(1) else { return nil }
            var numbers: [Int] = []
            for _ in 0..<each {
                // The highest bit says that the property is essential.
                guard let number = reader.number(flags & 1 == 1 ? 2 : 1) else { return nil }
                numbers.append(number & (flags & 1 == 1 ? 0x7fff : 0x7f))
            }
            if id == item { return numbers }
        }
        return nil
    }

    private init(_ content: ArraySlice<UInt8>) throws(DecodingRefusal) {
        var reader = Reader(content)
        var numbers: [Int] = []
        for _ in 0..<4 {
            guard let over = reader.number(4), let under = reader.number(4), under > 0 else { throw Self.unknown }
            // The offsets are signed. Each is in halves of a pixel, the sizes are in pixels.
            let value = 2 * (numbers.count < 2 ? over : Int(Int32(truncatingIfNeeded: over)))
            guard value % under == 0 else { throw Self.unknown }
            numbers.append(value / under)
        }
        guard numbers[0] % 2 == 0, numbers[1] % 2 == 0 else { throw Self.unknown }
        (width, height, twiceRight, twiceDown) = (numbers[0] / 2, numbers[1] / 2, numbers[2], numbers[3])
    }

    /// The columns and rows of a picture that are shown.
    func place(inWidth full: Int, height fullHeight: Int) throws(DecodingRefusal) -> (x: Range<Int>, y: Range<Int>) {
        let twiceLeft = full - width + twiceRight
        let twiceTop = fullHeight - height + twiceDown
        guard twiceLeft % 2 == 0, twiceTop % 2 == 0 else { throw Self.unknown }
        let (left, top) = (twiceLeft / 2, twiceTop / 2)
        guard width > 0, height > 0, left >= 0, top >= 0, left + width <= full, top + height <= fullHeight else {
            throw .malformed("is a HEIF file whose clean aperture (clap) is not inside the picture")
        }
        return (left..<(left + width), top..<(top + height))
    }
}

/// A box of a HEIF file (ISO/IEC 14496-12 section 4.2).
private struct Box {
    let kind: String
    let content: ArraySlice<UInt8>

    /// The boxes that follow one another in the bytes, as far as they are whole.
    static func list(_ bytes: ArraySlice<UInt8>) -> [Box] {
        var boxes: [Box] = []
        var reader = Reader(bytes)
        while let short = reader.number(4), let kind = reader.read(4) {
            // 1 means that a long size follows, 0 that the box reaches to the end.
            let size: Int? = short == 1 ? reader.number(8).map { $0 - 16 } : short == 0 ? reader.rest : short - 8
            guard let size, let content = reader.read(size) else { break }
            boxes.append(Box(kind: String(decoding: kind, as: UTF8.self), content: content))
        }
        return boxes
    }
}

/// Reads big-endian numbers.
private struct Reader {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    var rest: Int { bytes.count }

    mutating func read(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }

    /// The number in the next bytes; nil at the end, or if it is above 2^56.
    mutating func number(_ count: Int) -> Int? {
        guard let bytes = read(count), count < 8 || bytes.first == 0 else { return nil }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}
