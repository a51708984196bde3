package import CaptureNative
package import SystemPackage

/// What a file is, told by its first bytes. For messages only: nothing is accepted or refused because of it.
package struct FileKind: Sendable {
    package enum Family: Sendable {
        case jpeg, heif, picture, depthPicture, numpy, movie, document
        case zip, tar, compressed, bundle, uploadBody, json, text, program
    }

    /// What callers tell apart in a family. The raw value of a depth map's format is its ending, and that of a compressed
    /// file's format is its program.
    package enum Format: String, Sendable {
        case png, tiff, exr, pfm, pgm, npy
        case gzip, zstd, bzip2, xz
        case sevenZip, lz4, rosBag, rosDepth, matroska, matlab
    }

    package enum Colour: String, Sendable { case greyscale, colour, palette }
    package typealias PNG = (bits: UInt8, colour: Colour?, width: Int, height: Int)

    package let family: Family
    /// With an article, such as "a HEIC photo".
    package let words: String
    package let format: Format?
    /// nil for another kind, and for a PNG that ends before its header does.
    package let png: PNG?

    /// How many bytes are looked at.
    package static let length = 1024

    /// The kinds that a few bytes at one place tell, the first match wins.
    private static let table: [(offset: Int, mark: [UInt8], family: Family, words: String, format: Format?)] = [
        (0, [0xff, 0xd8, 0xff], .jpeg, "a JPEG photo", nil),
        (0, Array("GIF8".utf8), .picture, "a GIF picture", nil),
        (8, Array("WEBP".utf8), .picture, "a WebP picture", nil),
        (4, Array("jP  ".utf8), .picture, "a JPEG 2000 picture", nil),
        (4, Array("JXL ".utf8), .picture, "a JPEG XL picture", nil),
        (0, [0x49, 0x49, 0x2a, 0], .depthPicture, "a TIFF picture", .tiff),
        (0, [0x4d, 0x4d, 0, 0x2a], .depthPicture, "a TIFF picture", .tiff),
        (0, [0x76, 0x2f, 0x31, 0x01], .depthPicture, "an OpenEXR picture", .exr),
        (0, Array("Pf\n".utf8), .depthPicture, "a PFM picture", .pfm),
        (0, Array("PF\n".utf8), .depthPicture, "a PFM picture with three channels", .pfm),
        (0, Array("P5\n".utf8), .depthPicture, "a PGM picture", .pgm),
        (0, Array("P5 ".utf8), .depthPicture, "a PGM picture", .pgm),
        (4, Array("moov".utf8), .movie, "a QuickTime movie", nil),
        (4, Array("mdat".utf8), .movie, "a QuickTime movie", nil),
        (4, Array("wide".utf8), .movie, "a QuickTime movie", nil),
        (0, Array("%PDF-".utf8), .document, "a PDF document", nil),
        (0, Array("PK\u{3}\u{4}".utf8), .zip, "a zip archive", nil),
        (0, Array("PK\u{5}\u{6}".utf8), .zip, "an empty zip archive", nil),
        (0, [0x1f, 0x8b], .compressed, "a gzip-compressed file", .gzip),
        (0, [0x28, 0xb5, 0x2f, 0xfd], .compressed, "a zstd-compressed file", .zstd),
        (1, [0x2a, 0x4d, 0x18], .compressed, "a zstd-compressed file", .zstd),
        (0, Array("BZh".utf8), .compressed, "a bzip2-compressed file", .bzip2),
        (0, [0xfd, 0x37, 0x7a, 0x58, 0x5a], .compressed, "an xz-compressed file", .xz),
        (0, Array("7z".utf8) + [0xbc, 0xaf, 0x27, 0x1c], .document, "a 7z archive", .sevenZip),
        (0, [0x04, 0x22, 0x4d, 0x18], .document, "an lz4-compressed file", .lz4),
        (0, Array("#ROSBAG V".utf8), .document, "a ROS bag", .rosBag),
        (0, [0x89] + Array("MCAP0".utf8), .document, "a ROS bag (MCAP)", .rosBag),
        (0, Array("SQLite format 3\0".utf8), .document, "a SQLite database, such as a ROS bag", .rosBag),
        (0, [0x1a, 0x45, 0xdf, 0xa3], .movie, "a Matroska recording", .matroska),
        (0, Array("MATLAB 5.0 MAT-file".utf8), .document, "a MATLAB file", .matlab),
        (0, [0x89] + Array("HDF\r\n".utf8), .document, "an HDF5 file, such as one of MATLAB 7.3", .matlab),
        (12, [0x89, 0x50, 0x4e, 0x47], .document, "compressedDepth of ROS, with 12 bytes before its PNG", .rosDepth),
        (0, [0x7f, 0x45, 0x4c, 0x46], .program, "a program", nil),
        (0, Array("-----BEGIN ".utf8), .text, "a PEM file", nil),
        (0, Array("--capture-bundle-".utf8), .uploadBody, "an upload body", nil),
        (0, Array("--realitycam-".utf8), .document, "a body of profile realitycam", nil),
        (512, Array("application/vnd.capture-bundle+tar".utf8), .bundle, "a capture bundle", nil),
        (257, Array("ustar".utf8), .tar, "a tar archive", nil),
    ]

    private init(_ family: Family, _ words: String, format: Format? = nil, png: PNG? = nil) {
        (self.family, self.words, self.format, self.png) = (family, words, format, png)
    }

    /// nil for bytes that none of the kinds begins with.
    package init?(_ bytes: [UInt8]) {
        let start = Array(bytes.prefix(Self.length))
        func holds(_ mark: [UInt8], at offset: Int) -> Bool { start.dropFirst(offset).starts(with: mark) }
        if let picture = Self.png(start) ?? Self.numpy(start) ?? Self.mediaFile(start) {
            self = picture
        } else if let row = Self.table.first(where: { holds($0.mark, at: $0.offset) }) {
            self.init(row.family, row.words, format: row.format)
        } else if Self.isOldTar(start) {
            self.init(.tar, "a tar archive")
        } else if let text = Self.text(start) {
            self = text
        } else {
            return nil
        }
    }

    /// Of a plain file; nil where it cannot be read, too.
    package init?(file path: FilePath) {
        guard let kind = try? Self(reading: path) else { return nil }
        self = kind
    }

    /// Reads the first bytes of a plain file; nil if it is none, or of no known kind. Throws if it cannot be read.
    package init?(reading path: FilePath) throws(NativeError) {
        var bytes = [UInt8](repeating: 0, count: Self.length)
        guard let handle = try FileHandle.readingPlainFile(path) else { return nil }
        let count = try handle.read(into: &bytes)
        self.init(Array(bytes[..<count]))
    }

    /// The old form of tar, and a volume label of GNU tar, have only the checksum of their first header.
    private static func isOldTar(_ start: [UInt8]) -> Bool {
        guard start.count >= 512, start[0] != 0 else { return false }
        let digits = start[148..<156].filter { (48...55).contains($0) }
        let others = (start[..<148] + start[156..<512]).reduce(0) { $0 + Int($1) }
        return Int(String(decoding: digits, as: UTF8.self), radix: 8) == others + 8 * 32
    }

    /// Signature, IHDR length and type, width, height, bit depth, colour type (PNG section 11.2.1).
    private static func png(_ start: [UInt8]) -> FileKind? {
        guard start.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) else { return nil }
        guard start.count >= 26 else { return FileKind(.picture, "a PNG picture", format: .png) }
        func side(_ offset: Int) -> Int { start[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } }
        let colours: [UInt8: Colour] = [0: .greyscale, 2: .colour, 3: .palette, 4: .greyscale, 6: .colour]
        let png = (bits: start[24], colour: colours[start[25]], width: side(16), height: side(20))
        let words = "\(png.bits)-bit \(png.colour.map { "\($0.rawValue) " } ?? "")PNG, \(png.width)x\(png.height)"
        return FileKind(
            png.bits == 16 ? .depthPicture : .picture, "\(png.bits == 8 ? "an" : "a") \(words)", format: .png, png: png)
    }

    /// The header of a NumPy array names type and shape: `{'descr': '<f4', 'fortran_order': False, 'shape': (192, 256), }`.
    private static func numpy(_ start: [UInt8]) -> FileKind? {
        guard start.starts(with: [0x93] + Array("NUMPY".utf8)) else { return nil }
        let header = String(decoding: start.filter { (0x20...0x7e).contains($0) }, as: UTF8.self)
        func value(after name: String, until end: Unicode.Scalar) -> String? {
            let parts = header.pieces(around: name)
            guard parts.count > 1, let text = parts[1].pieces(by: end, limit: 2).first else { return nil }
            let kept = text.utf8.filter { !"'\"( ".utf8.contains($0) }
            return kept.count <= 40 ? String(decoding: kept, as: UTF8.self) : nil
        }
        let type = value(after: "'descr':", until: ",").map { " of type \($0)" } ?? ""
        let sides = value(after: "'shape':", until: ")")?.pieces(by: ",") ?? []
        let shape = sides.isEmpty ? "" : ", shape \(sides.joined(separator: " x "))"
        return FileKind(.numpy, "a NumPy array\(type)\(shape)", format: .npy)
    }

    /// The brands of an ISO base media file (ISO/IEC 14496-12 section 4.3).
    private static func mediaFile(_ start: [UInt8]) -> FileKind? {
        guard start.dropFirst(4).starts(with: "ftyp".utf8), start.count >= 12 else { return nil }
        let length = start[..<4].reduce(0) { $0 << 8 | Int($1) }
        let box = start[8..<min(max(length, 12), start.count)]
        let brands = stride(from: 8, to: box.endIndex - 3, by: 4).map {
            String(decoding: start[$0..<($0 + 4)], as: UTF8.self)
        }
        if brands.contains("avif") || brands.contains("avis") { return FileKind(.picture, "an AVIF picture") }
        if brands.contains(where: { $0.hasPrefix("hei") || $0.hasPrefix("hev") }) {
            return FileKind(.heif, "a HEIC photo")
        }
        if brands.contains("mif1") || brands.contains("msf1") { return FileKind(.heif, "a HEIF photo") }
        return FileKind(.movie, brands.first == "qt  " ? "a QuickTime movie" : "an MP4 movie")
    }

    private static func text(_ start: [UInt8]) -> FileKind? {
        let spaces: [UInt8] = [0x20, 0x09, 0x0a, 0x0d]
        let isPlain = start.allSatisfy { $0 > 0x20 && $0 != 0x7f || spaces.contains($0) }
        // The last character of a longer file can be cut off.
        let cut = start.count < Self.length ? 0 : 3
        let scalars = String(decoding: start, as: UTF8.self).unicodeScalars.dropLast(cut)
        guard !start.isEmpty, isPlain, scalars.allSatisfy({ $0 != "\u{fffd}" }) else { return nil }
        let first = start.first { !spaces.contains($0) }
        let isJSON = first.map { "{[".utf8.contains($0) } ?? false
        return isJSON ? FileKind(.json, "a JSON file") : FileKind(.text, "a text file")
    }
}
