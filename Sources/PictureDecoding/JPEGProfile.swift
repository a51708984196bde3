/// Inserts an ICC profile into a JPEG. Without it, the colours of a photo from a phone would be wrong.
enum JPEGProfile {
    /// The number of profile bytes that fit in a segment, whose length field has two bytes.
    private static let pieceLimit = 65519

    /// Returns the file with the profile in APP2 segments after the first marker (ICC.1:2022, annex B.4).
    static func insert(_ profile: [UInt8], into jpeg: [UInt8]) -> [UInt8] {
        let pieces = (profile.count + pieceLimit - 1) / pieceLimit
        guard (1...255).contains(pieces), jpeg.starts(with: [0xff, 0xd8]) else { return jpeg }
        var file = Array(jpeg[..<2])
        for index in 0..<pieces {
            let piece = profile[(index * pieceLimit)..<min(profile.count, (index + 1) * pieceLimit)]
            let length = piece.count + 16
            file += [0xff, 0xe2, UInt8(length >> 8), UInt8(length & 0xff)]
            file += Array("ICC_PROFILE".utf8) + [0, UInt8(index + 1), UInt8(pieces)]
            file += piece
        }
        return file + jpeg[2...]
    }
}
