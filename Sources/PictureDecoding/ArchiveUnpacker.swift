import CLibArchive
import Glibc
import PictureMessages

/// Unpacks the archive on standard input: zip, or tar that is plain or compressed by gzip or Zstandard.
final class ArchiveUnpacker {
    private var calls = capture_archive_reader()

    /// Loads the library; nil if it is not installed.
    init?() {
        guard unsafe capture_archive_reader_load(&calls, PictureLibrary.archive.fileName) == 1 else { return nil }
        // Names are UTF-8 in zip files; in the default locale libarchive would refuse them. C.UTF-8 is part of glibc.
        unsafe _ = setlocale(LC_CTYPE, "C.UTF-8")
        // libarchive converts the local times of zip files, for which glibc would read the zone's file in the sandbox.
        unsafe _ = setenv("TZ", "UTC0", 1)
        tzset()
    }

    /// Sends all members except folders. It returns false if the other end of standard output is closed.
    func unpack() throws(DecodingRefusal) -> Bool {
        let block = UnsafeMutableRawPointer.allocate(byteCount: Int(capture_archive_block), alignment: 16)
        defer { unsafe block.deallocate() }
        guard let archive = unsafe capture_archive_open(&calls, block) else { throw .tooLarge }
        defer { _ = unsafe calls.read_free(archive) }
        while true {
            var entry: OpaquePointer?
            let code = unsafe calls.read_next_header(archive, &entry)
            if code == ARCHIVE_EOF {
                try unsafe checkEnd(archive)
                return true
            }
            guard code == ARCHIVE_OK, let entry = unsafe entry else { throw unsafe damage(archive) }
            guard try unsafe send(entry, of: archive) else { return false }
        }
    }

    /// Refuses a tar archive without the blocks of zeros that mark its end, since it may have been cut off there.
    private func checkEnd(_ archive: OpaquePointer) throws(DecodingRefusal) {
        let isTar = unsafe calls.format(archive) & ARCHIVE_FORMAT_BASE_MASK == ARCHIVE_FORMAT_TAR
        // libarchive reads the mark as a header. If the mark is missing, nothing was read after the position at which
        // this header was expected.
        guard isTar, unsafe calls.filter_bytes(archive, 0) <= calls.read_header_position(archive) else { return }
        throw DecodingRefusal(.malformed, "is an archive that was cut off: the mark at its end is missing")
    }

    private func send(_ entry: OpaquePointer, of archive: OpaquePointer) throws(DecodingRefusal) -> Bool {
        guard let name = unsafe calls.entry_pathname(entry) else {
            throw DecodingRefusal(.malformed, "is an archive with a name that cannot be read")
        }
        let bytes = unsafe Array(UnsafeRawBufferPointer(start: name, count: strlen(name)))
        guard bytes.count <= PictureLimits.nameBytes else {
            throw DecodingRefusal(.tooLarge, "is an archive with a name of more than \(PictureLimits.nameBytes) bytes")
        }
        let isLink = unsafe calls.entry_hardlink(entry) != nil || calls.entry_symlink(entry) != nil
        let kind = unsafe calls.entry_filetype(entry)
        if kind == S_IFDIR && !isLink { return true }
        guard kind == S_IFREG && !isLink else { return Channel.send([AnswerPart(.archiveOther, bytes)]) }
        guard Channel.send([AnswerPart(.archiveFile, bytes)]) else { return false }
        var piece = [UInt8](repeating: 0, count: PictureLimits.pieceBytes)
        var sent = 0
        while true {
            let count = unsafe calls.read_data(archive, &piece, piece.count)
            guard count >= 0 else { throw unsafe damage(archive) }
            if count == 0 { break }
            sent += count
            guard Channel.send([AnswerPart(.archiveBytes, Array(piece[..<count]))]) else { return false }
        }
        // libarchive leaves out a hole at the end of a sparse file.
        guard unsafe calls.entry_size_is_set(entry) == 0 || calls.entry_size(entry) == sent else {
            throw DecodingRefusal(.unsupported, "is an archive with a sparse file, which has holes")
        }
        return true
    }

    private func damage(_ archive: OpaquePointer) -> DecodingRefusal {
        let text = unsafe String(library: calls.error_string(archive))
        if text.hasPrefix("Unrecognized archive format") {
            return DecodingRefusal(.unsupported, "is not a zip or tar archive, or was cut off")
        }
        return DecodingRefusal(.malformed, "is a damaged archive: \(text)")
    }
}
