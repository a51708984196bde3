import PictureMessages

/// Samples of one channel, in the byte order of the machine.
struct Samples {
    let width: Int
    let height: Int
    let type: SampleType
    /// See `PicturePart`.
    var bits: UInt8 = 0
    var bytes: [UInt8]
    /// What the user must know about how they were read.
    var notes: [String] = []

    var parts: [AnswerPart] {
        [AnswerPart(.samples, bytes, detail: type.code, bits: bits, width: width, height: height)]
            + notes.map { AnswerPart(.note, Array($0.cut(to: PictureLimits.messageBytes).utf8)) }
    }

    /// Notes samples that were made 0.
    mutating func note(_ count: Int, _ which: String) {
        guard count > 0 else { return }
        let have = count == 1 ? "1 sample" : "\(count) samples"
        notes.append("has \(have) \(which), taken as not measured")
    }

    /// Makes samples of one number 0. The number is first rounded to their type.
    mutating func remove(_ number: Double, _ which: String) {
        let most = type.isFloat ? .infinity : Double(type.highest)
        guard number != 0, (type.isSigned ? -most - 1...most : 0...most).contains(number) else { return }
        let bits: UInt64 =
            switch type {
            case .float16: UInt64(Float16(number).bitPattern)
            case .float32: UInt64(Float(number).bitPattern)
            case .float64: number.bitPattern
            default: UInt64(bitPattern: Int64(number.rounded()))
            }
        let pattern = (0..<type.byteCount).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
        var count = 0
        for start in stride(from: 0, to: bytes.count, by: pattern.count)
        where bytes[start..<(start + pattern.count)].elementsEqual(pattern) {
            for index in pattern.indices { bytes[start + index] = 0 }
            count += 1
        }
        note(count, which)
    }
}

/// The samples of a picture with one or more channels.
struct Channels {
    let pixels: Int
    let count: Int
    /// The last channel if it is the transparency, which is left aside.
    let hasAlpha: Bool
    let each: Int
    /// Whether the samples of a channel follow one another, and not those of a pixel.
    let isPlanar: Bool

    /// The samples of the first channel; nil unless the others, without the transparency, are equal bit for bit.
    func folded(_ bytes: [UInt8]) -> [UInt8]? {
        guard count > 1 else { return bytes }
        let (step, distance) = isPlanar ? (each, each * pixels) : (each * count, each)
        let others = 1..<(hasAlpha ? count - 1 : count)
        var first: [UInt8] = []
        first.reserveCapacity(pixels * each)
        for start in stride(from: 0, to: pixels * step, by: step) {
            for offset in start..<(start + each) {
                for channel in others where bytes[offset + channel * distance] != bytes[offset] { return nil }
                first.append(bytes[offset])
            }
        }
        return first
    }

    /// The numbers of the pixels that are transparent.
    func transparent(_ bytes: [UInt8]) -> [Int] {
        guard hasAlpha else { return [] }
        let (step, distance) = isPlanar ? (each, each * pixels) : (each * count, each)
        return (0..<pixels).filter { pixel in
            let start = pixel * step + (count - 1) * distance
            return bytes[start..<(start + each)].allSatisfy { $0 == 0 }
        }
    }
}
