import CZlib
import Glibc
import PictureMessages

/// Unpacks a zip archive: files that are stored or deflated. The directory at the end decides. The header before a file
/// must agree with it in the name, the method and the CRC, so that all programs show the same files.
struct ZipUnpacker {
    let directory: ZipDirectory

    /// Sends all members except folders.
    func unpack() throws(DecodingRefusal) {
        _ = try directory.allSatisfy { entry throws(DecodingRefusal) in
            try unpack(entry)
            return true
        }
    }

    private func unpack(_ entry: ZipDirectory.Entry) throws(DecodingRefusal) {
        try begin(entry)
        let slash = UInt8(ascii: "/")
        let name = directory.hasBackslashes ? entry.name.map { $0 == UInt8(ascii: "\\") ? slash : $0 } : entry.name
        if name.last == slash { return }
        guard [0, Int(S_IFREG)].contains(entry.unixType) else {
            return Channel.send(AnswerPart(.archiveOther, name))
        }
        Channel.send(AnswerPart(.archiveFile, name))
        var writer = Writer(entry)
        switch entry.method {
        case 0: try copy(entry, &writer)
        case 8: try inflate(entry, &writer)
        default:
            throw .unsupported("is a zip archive with compression method \(entry.method), expected stored or deflate")
        }
        try writer.finish()
    }

    /// Checks the header before a file, and goes to the file's first byte.
    private func begin(_ entry: ZipDirectory.Entry) throws(DecodingRefusal) {
        // Bit 0: encrypted. Bit 13: the headers are encrypted.
        guard entry.flags & 0x2001 == 0 else { throw .unsupported("is an encrypted zip archive") }
        guard entry.offset <= directory.offset, let header = Channel.read(30, at: entry.offset),
            header.starts(with: ZipDirectory.fileMark), let name = Channel.read(header.number(at: 26, bytes: 2))
        else { throw ZipDirectory.damage("its directory names a file that is not there") }
        guard name == entry.name else { throw ZipDirectory.names(entry.name, name) }
        // Bit 3: the CRC comes after the file.
        let hasCRC = header[6] & 8 == 0
        guard header.number(at: 8, bytes: 2) == entry.method,
            !hasCRC || header.number(at: 14, bytes: 4) == Int(entry.crc)
        else { throw ZipDirectory.damage("a file's header differs from the directory") }
        let start = entry.offset + 30 + name.count + header.number(at: 28, bytes: 2)
        guard start + entry.compressed <= directory.offset, Channel.seek(to: start) else {
            throw ZipDirectory.damage("a file reaches into the directory")
        }
    }

    /// Sends a file's bytes, and compares their number and CRC with the directory.
    private struct Writer {
        private let entry: ZipDirectory.Entry
        private var count = 0
        private var crc: UInt = 0

        init(_ entry: ZipDirectory.Entry) { self.entry = entry }

        mutating func send(_ bytes: [UInt8]) throws(DecodingRefusal) {
            count += bytes.count
            guard count <= entry.size else { throw ZipDirectory.damage("a file is longer than the directory says") }
            crc = unsafe bytes.read { unsafe crc32(crc, $0, UInt32($1)) }
            if !bytes.isEmpty { Channel.send(AnswerPart(.archiveBytes, bytes)) }
        }

        func finish() throws(DecodingRefusal) {
            guard count == entry.size else { throw ZipDirectory.damage("a file is shorter than the directory says") }
            guard crc == UInt(entry.crc) else { throw ZipDirectory.damage("the CRC of a file is wrong") }
        }
    }

    private func copy(_ entry: ZipDirectory.Entry, _ writer: inout Writer) throws(DecodingRefusal) {
        guard entry.compressed == entry.size else { throw ZipDirectory.damage("a stored file has two sizes") }
        var rest = entry.size
        while rest > 0 {
            guard let piece = Channel.read(min(rest, PictureLimits.pieceBytes)) else { throw Self.cutOff }
            rest -= piece.count
            try writer.send(piece)
        }
    }

    private func inflate(_ entry: ZipDirectory.Entry, _ writer: inout Writer) throws(DecodingRefusal) {
        let inflater = try ZlibInflater(.none, failure: ZipDirectory.damage("").text)
        var output = [UInt8](repeating: 0, count: PictureLimits.pieceBytes)
        var rest = entry.compressed
        var piece: ArraySlice<UInt8> = []
        var isFull = false
        while true {
            // While the output was full, zlib may still have bytes.
            if piece.isEmpty && !isFull {
                guard rest > 0 else { throw ZipDirectory.damage("a file ends before its data") }
                guard let next = Channel.read(min(rest, PictureLimits.pieceBytes)) else { throw Self.cutOff }
                piece = next[...]
                rest -= piece.count
            }
            let step = try unsafe piece.withUnsafeBytes { source in
                unsafe output.withUnsafeMutableBytes { target in
                    Result { () throws(DecodingRefusal) in try unsafe inflater.inflate(source, into: target) }
                }
            }.get()
            piece.removeFirst(step.consumed)
            isFull = step.produced == output.count
            try writer.send(Array(output[..<step.produced]))
            guard step.isFinished else { continue }
            guard piece.isEmpty, rest == 0 else { throw ZipDirectory.damage("a file has two sizes") }
            return
        }
    }

    private static let cutOff = ZipDirectory.damage("it was cut off")
}
