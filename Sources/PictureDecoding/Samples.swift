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
        guard number != 0 else { return }
        let count =
            switch type {
            case .uint8: replace(UInt8(exactly: number.rounded()))
            case .uint16: replace(UInt16(exactly: number.rounded()))
            case .uint32: replace(UInt32(exactly: number.rounded()))
            case .int16: replace(Int16(exactly: number.rounded()))
            case .int32: replace(Int32(exactly: number.rounded()))
            case .float16: replace(Float16(number))
            case .float32: replace(Float(number))
            case .float64: replace(number)
            }
        note(count, which)
    }

    private mutating func replace<Number: Numeric & BitwiseCopyable>(_ number: Number?) -> Int {
        guard let number else { return 0 }
        return unsafe bytes.withUnsafeMutableBytes { bytes in
            var count = 0
            for offset in stride(from: 0, to: bytes.count, by: MemoryLayout<Number>.size)
            where unsafe bytes.loadUnaligned(fromByteOffset: offset, as: Number.self) == number {
                unsafe bytes.storeBytes(of: .zero, toByteOffset: offset, as: Number.self)
                count += 1
            }
            return count
        }
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
