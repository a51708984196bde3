import CLibArchive
import Glibc
import PictureMessages

/// Unpacks the archive on standard input: zip, or tar that is plain or compressed by gzip, Zstandard, bzip2 or xz. The
/// first bytes tell which.
final class ArchiveUnpacker {
    private var calls = capture_archive_reader()

    /// Loads the library; nil if it is not installed.
    init?() {
        guard unsafe capture_archive_reader_load(&calls, PictureLibrary.archive.fileName) == 1 else { return nil }
        // Names in tar archives can be UTF-8; in the default locale libarchive would refuse them. C.UTF-8 is part of
        // glibc.
        unsafe _ = setlocale(LC_CTYPE, "C.UTF-8")
    }

    /// Sends all members except folders.
    func unpack() throws(DecodingRefusal) {
        let place = Self.skippable
        let start = Channel.read(4, at: place) ?? []
        guard Channel.seek(to: place) else { throw .malformed("cannot be read") }
        // The header of a file, or the end of a directory without files. PKG/photo.jpg is a possible name in a tar.
        if start.starts(with: ZipDirectory.fileMark) || start.starts(with: ZipDirectory.endMark) {
            return try ZipUnpacker(directory: ZipDirectory()).unpack()
        }
        try TarUnpacker(calls, source(start)).unpack()
    }

    private func source(_ start: [UInt8]) throws(DecodingRefusal) -> any TarSource {
        if start.starts(with: [0x1f, 0x8b]) { return try GzipTar() }
        return try FilteredTar(calls, start) ?? PlainTar()
    }

    /// Where the archive begins: after the skippable frames of Zstandard (RFC 8878 section 3.1.2), which pzstd writes.
    static var skippable: Int {
        var place = 0
        while let frame = Channel.read(8, at: place), frame[0] >> 4 == 5, frame[1..<4] == [0x2a, 0x4d, 0x18] {
            place += 8 + frame.number(at: 4, bytes: 4)
        }
        return place
    }

    static func check(name: [UInt8]) throws(DecodingRefusal) {
        guard name.count <= PictureLimits.nameBytes else {
            throw DecodingRefusal(.tooLarge, "is an archive with a name of more than \(PictureLimits.nameBytes) bytes")
        }
    }
}
