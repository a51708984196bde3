import CaptureBundle
package import PictureClient
import PictureMessages

/// Reads a depth map from an array in NumPy's `.npy` format, versions 1.0 to 3.0.
package enum NumpyArray {
    static let magic: [UInt8] = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]
    private static let headerLimit = 1 << 16

    /// Reads a `SampleType` in C order, with the shape (height, width), (height, width, 1) or (1, height, width). float16
    /// and float64 become float32.
    package static func decode(_ bytes: [UInt8]) throws(PictureFailure) -> SampleGrid {
        guard bytes.starts(with: magic), bytes.count >= 10 else {
            let found = Hex.encode(Array(bytes.prefix(6)))
            throw .malformed("is not a NumPy array: begins with \(found), expected \(Hex.encode(magic))")
        }
        let (major, minor) = (bytes[6], bytes[7])
        guard (1...3).contains(major), minor == 0 else {
            throw .malformed("is a NumPy array of version \(major).\(minor), expected 1.0, 2.0 or 3.0")
        }
        let lengthBytes = major == 1 ? 2 : 4
        let start = 8 + lengthBytes
        guard start <= bytes.count else { throw .malformed("is a NumPy array that is cut off in its header") }
        let length = bytes[8..<start].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length <= headerLimit else {
            throw .malformed("is a NumPy array with a header of \(length) bytes, expected at most \(headerLimit)")
        }
        guard length <= bytes.count - start else { throw .malformed("is a NumPy array that is cut off in its header") }
        let header = try NumpyHeader(bytes[start..<(start + length)])
        return try samples(bytes[(start + length)...], header)
    }

    private static func samples(
        _ data: ArraySlice<UInt8>, _ header: NumpyHeader
    ) throws(PictureFailure) -> SampleGrid {
        guard !header.isFortranOrder else {
            throw .malformed(
                "is a NumPy array in Fortran order (column-major), expected C order; numpy.ascontiguousarray converts it"
            )
        }
        let (shape, count) = (header.shape, header.shape.count)
        guard count == 2 || (count == 3 && (shape[2] == 1 || shape[0] == 1)) else {
            let shape = shape.map(String.init).joined(separator: ", ")
            throw .malformed(
                "is a NumPy array of the shape (\(shape)), expected (height, width), or that with a side of 1")
        }
        let sides = count == 3 && shape[2] != 1 ? shape[1...] : shape[..<2]
        guard let height = sides.first, let width = sides.last, let size = DepthSize(width: width, height: height)
        else { throw .side(sides.last ?? 0, sides.first ?? 0) }
        guard let type = SampleType.allCases.first(where: { $0.numpyName == header.type.without(first: 1) }),
            ["<", ">", "|"].contains(header.type.cut(to: 1)), !header.type.hasPrefix("|") || type == .uint8
        else {
            throw .malformed(
                "is a NumPy array of the type \(header.type), expected floats, or integers of 8, 16 or 32 bits")
        }
        return try SampleGrid(data, type, isLittleEndian: !header.type.hasPrefix(">"), size: size)
    }
}

/// The header of an array: `{'descr': '<f4', 'fortran_order': False, 'shape': (192, 256), }`.
///
/// The header is a Python literal. NumPy writes only this form, so other forms are refused.
private struct NumpyHeader {
    private(set) var type = ""
    private(set) var isFortranOrder = false
    private(set) var shape: [Int] = []
    private var rest: ArraySlice<UInt8>

    private static let malformed = PictureFailure.malformed(
        "is a NumPy array with a header that NumPy does not write; save it with numpy.save as one plain array")

    init(_ bytes: ArraySlice<UInt8>) throws(PictureFailure) {
        rest = bytes
        var seen: [String] = []
        try expect("{")
        while !consume("}") {
            let name = try quoted()
            guard !seen.contains(name) else { throw Self.malformed }
            seen.append(name)
            try expect(":")
            switch name {
            case "descr": type = try quoted()
            case "fortran_order": isFortranOrder = try boolean()
            case "shape": shape = try tuple()
            default: throw Self.malformed
            }
            if consume(",") { continue }
            try expect("}")
            break
        }
        skipSpace()
        guard rest.isEmpty, seen.count == 3 else { throw Self.malformed }
    }

    private mutating func skipSpace() { rest = rest.drop { $0 == 0x20 || $0 == 0x0a } }

    private mutating func consume(_ text: String) -> Bool {
        skipSpace()
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    private mutating func expect(_ text: String) throws(PictureFailure) {
        guard consume(text) else { throw Self.malformed }
    }

    /// Reads a string of printable ASCII without escapes.
    private mutating func quoted() throws(PictureFailure) -> String {
        skipSpace()
        guard let quote = rest.popFirst(), quote == 0x27 || quote == 0x22 else { throw Self.malformed }
        let text = rest.prefix(33).prefix { $0 != quote }
        rest = rest.dropFirst(text.count)
        guard text.count <= 32, rest.popFirst() == quote,
            text.allSatisfy({ (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "\\") })
        else { throw Self.malformed }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func boolean() throws(PictureFailure) -> Bool {
        if consume("True") { return true }
        try expect("False")
        return false
    }

    /// Reads a tuple of at most 8 numbers, each below 10^9.
    private mutating func tuple() throws(PictureFailure) -> [Int] {
        try expect("(")
        var numbers: [Int] = []
        while !consume(")") {
            skipSpace()
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard (1...9).contains(digits.count), numbers.count < 8 else { throw Self.malformed }
            numbers.append(digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) })
            rest = rest.dropFirst(digits.count)
            if consume(",") { continue }
            try expect(")")
            break
        }
        return numbers
    }
}
