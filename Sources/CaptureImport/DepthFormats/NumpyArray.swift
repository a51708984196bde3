package import CaptureBundle

/// Reads a depth map from an array in NumPy's `.npy` format, versions 1.0 to 3.0.
package enum NumpyArray {
    static let magic: [UInt8] = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]
    private static let headerLimit = 1 << 16

    /// Reads float16, float32, float64, uint16 or uint8 in C order, with the shape (height, width) or
    /// (height, width, 1). float16 and float64 become float32.
    package static func decode(_ bytes: [UInt8]) throws(DepthFormatFailure) -> SampleGrid { try read(bytes).grid }

    /// Reads the samples, and the type that they have in the file: `f2`, `f4`, `f8`, `u2` or `u1`.
    package static func read(_ bytes: [UInt8]) throws(DepthFormatFailure) -> (grid: SampleGrid, type: String) {
        guard bytes.starts(with: magic), bytes.count >= 10 else {
            let found = Hex.encode(Array(bytes.prefix(6)))
            throw DepthFormatFailure("is not a NumPy array: begins with \(found), expected \(Hex.encode(magic))")
        }
        let (major, minor) = (bytes[6], bytes[7])
        guard (1...3).contains(major), minor == 0 else {
            throw DepthFormatFailure("is a NumPy array of version \(major).\(minor), expected 1.0, 2.0 or 3.0")
        }
        let lengthBytes = major == 1 ? 2 : 4
        let start = 8 + lengthBytes
        guard start <= bytes.count else { throw DepthFormatFailure("is a NumPy array that is cut off in its header") }
        let length = bytes[8..<start].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length <= headerLimit else {
            throw DepthFormatFailure(
                "is a NumPy array with a header of \(length) bytes, expected at most \(headerLimit)")
        }
        guard length <= bytes.count - start else {
            throw DepthFormatFailure("is a NumPy array that is cut off in its header")
        }
        let header = try NumpyHeader(bytes[start..<(start + length)])
        return (try samples(bytes[(start + length)...], header), header.type.without(first: 1))
    }

    private static func samples(
        _ data: ArraySlice<UInt8>, _ header: NumpyHeader
    ) throws(DepthFormatFailure) -> SampleGrid {
        guard !header.isFortranOrder else {
            throw DepthFormatFailure(
                "is a NumPy array in Fortran order (column-major), expected C order; numpy.ascontiguousarray converts it"
            )
        }
        guard header.shape.count == 2 || (header.shape.count == 3 && header.shape[2] == 1) else {
            let shape = header.shape.map(String.init).joined(separator: ", ")
            throw DepthFormatFailure(
                "is a NumPy array of the shape (\(shape)), expected (height, width) or (height, width, 1)")
        }
        guard let size = DepthSize(width: header.shape[1], height: header.shape[0]) else {
            throw .side(header.shape[1], header.shape[0])
        }
        guard let type = SampleType(rawValue: header.type.without(first: 1)),
            ["<", ">", "|"].contains(header.type.cut(to: 1)), !header.type.hasPrefix("|") || type == .uint8
        else {
            throw DepthFormatFailure(
                "is a NumPy array of the type \(header.type), expected float16, float32, float64, uint16 or uint8")
        }
        return try SampleGrid(data, type, isLittleEndian: !header.type.hasPrefix(">"), size: size)
    }
}

/// The header of an array: `{'descr': '<f4', 'fortran_order': False, 'shape': (192, 256), }`.
///
/// The header is a Python literal. NumPy writes only this form, so it is read as JSON with other quotes and brackets.
private struct NumpyHeader {
    let type: String
    let isFortranOrder: Bool
    /// At most 8 numbers, each below 10^9.
    let shape: [Int]

    init(_ bytes: ArraySlice<UInt8>) throws(DepthFormatFailure) {
        guard let root = try? JSONParser.parse(Self.json(bytes), nesting: 4), root.members?.count == 3,
            let type = root["descr"]?.text, type.utf8.count <= 32,
            type.utf8.allSatisfy({ (0x20...0x7e).contains($0) }),
            case .bool(let isFortranOrder)? = root["fortran_order"],
            let elements = root["shape"]?.elements
        else { throw Self.malformed }
        let shape = elements.compactMap { element -> Int? in
            guard let digits = element.numberText, digits.utf8.count <= 9 else { return nil }
            return digits.utf8.allSatisfy { (48...57).contains($0) } ? Int(digits) : nil
        }
        guard shape.count == elements.count, shape.count <= 8 else { throw Self.malformed }
        (self.type, self.isFortranOrder, self.shape) = (type, isFortranOrder, shape)
    }

    private static let malformed = DepthFormatFailure(
        "is a NumPy array with a header that NumPy does not write; save it with numpy.save as one plain array")

    /// The same literal as JSON, without spaces and without a comma before a closing bracket.
    private static func json(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let others = Dictionary(uniqueKeysWithValues: zip("'()TF".utf8, "\"[]tf".utf8))
        var json: [UInt8] = []
        for byte in bytes where byte != 0x20 && byte != 0x0a {
            let byte = others[byte] ?? byte
            if "]}".utf8.contains(byte), json.last == UInt8(ascii: ",") { json.removeLast() }
            json.append(byte)
        }
        return json
    }
}
