import CLibArchive
import Glibc
import PictureMessages

/// Unpacks a tar archive, with libarchive. The source decompresses it and checks the compressed form to its end.
@safe
final class TarUnpacker {
    private let calls: capture_archive_reader
    private let archive: OpaquePointer
    private let source: any TarSource
    private let block = unsafe UnsafeMutableRawBufferPointer.archiveBlock()
    private var headers = TarHeaders()
    /// Why the source could not be read. libarchive knows only that it could not.
    private var failure: DecodingRefusal?

    init(_ calls: capture_archive_reader, _ source: any TarSource) throws(DecodingRefusal) {
        guard let archive = calls.read_new() else { throw .tooLarge }
        self.calls = calls
        unsafe self.archive = unsafe archive
        self.source = source
    }

    deinit {
        _ = unsafe calls.read_free(archive)
        unsafe block.deallocate()
    }

    /// Sends all members except folders.
    func unpack() throws(DecodingRefusal) {
        open()
        while true {
            var entry: OpaquePointer?
            let code = unsafe calls.read_next_header(archive, &entry)
            if code == ARCHIVE_EOF {
                return try checkEnd()
            }
            guard code == ARCHIVE_OK, let entry = unsafe entry else { throw damage }
            try headers.check(memberAt: Int(unsafe calls.read_header_position(archive)))
            try unsafe send(entry)
        }
    }

    private func open() {
        _ = unsafe calls.read_support_format_tar(archive)
        // The pointer is used only in calls of this object.
        _ = unsafe calls.read_set_callback_data(archive, Unmanaged.passUnretained(self).toOpaque())
        _ = unsafe calls.read_set_read_callback(archive) { _, unpacker, bytes in
            guard let unpacker = unsafe unpacker else { return la_ssize_t(ARCHIVE_FATAL) }
            return unsafe Unmanaged<TarUnpacker>.fromOpaque(unpacker).takeUnretainedValue().next(bytes)
        }
        _ = unsafe calls.read_open1(archive)
    }

    private func next(_ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?) -> la_ssize_t {
        do throws(DecodingRefusal) {
            unsafe bytes?.pointee = unsafe UnsafeRawPointer(block.baseAddress)
            return try read()
        } catch {
            failure = failure ?? error
            return la_ssize_t(ARCHIVE_FATAL)
        }
    }

    private func read() throws(DecodingRefusal) -> Int {
        let count = try unsafe source.read(into: block)
        try unsafe headers.read(UnsafeRawBufferPointer(rebasing: block[..<count]))
        return count
    }

    /// Refuses an archive without the blocks of zeros that mark its end, since it may have been cut off there, and reads
    /// the rest of the source, since the check of the compressed form comes last.
    private func checkEnd() throws(DecodingRefusal) {
        if let failure { throw failure }
        // libarchive reads the mark as a header. If the mark is missing, nothing was read after the position at which
        // this header was expected.
        guard unsafe calls.filter_bytes(archive, 0) > calls.read_header_position(archive) else {
            throw .malformed("is an archive that was cut off: the mark at its end is missing")
        }
        while try read() > 0 {}
        try headers.checkEnd()
    }

    private func send(_ entry: OpaquePointer) throws(DecodingRefusal) {
        guard let name = unsafe calls.entry_pathname(entry) else {
            throw .malformed("is an archive with a name that cannot be read")
        }
        let bytes = unsafe Array(UnsafeRawBufferPointer(start: name, count: strlen(name)))
        try ArchiveUnpacker.check(name: bytes)
        let isLink = unsafe calls.entry_hardlink(entry) != nil || calls.entry_symlink(entry) != nil
        let kind = unsafe calls.entry_filetype(entry)
        if kind == S_IFDIR && !isLink { return }
        guard kind == S_IFREG && !isLink else { return Channel.send(AnswerPart(.archiveOther, bytes)) }
        Channel.send(AnswerPart(.archiveFile, bytes))
        var piece = [UInt8](repeating: 0, count: PictureLimits.pieceBytes)
        var sent = 0
        while case let count = unsafe calls.read_data(archive, &piece, piece.count), count != 0 {
            guard count > 0 else { throw damage }
            sent += count
            Channel.send(AnswerPart(.archiveBytes, Array(piece[..<count])))
        }
        // libarchive leaves out a hole at the end of a sparse file.
        let size = unsafe calls.entry_size_is_set(entry) == 0 ? sent : Int(calls.entry_size(entry))
        guard unsafe size == sent || size > sent && calls.entry_sparse_count(entry) > 0 else {
            throw .malformed("is a damaged archive: a file has \(sent) bytes, expected \(size)")
        }
        while sent < size {
            let zeros = [UInt8](repeating: 0, count: min(size - sent, PictureLimits.pieceBytes))
            Channel.send(AnswerPart(.archiveBytes, zeros))
            sent += zeros.count
        }
    }

    private var damage: DecodingRefusal {
        if let failure { return failure }
        let text = unsafe String(library: calls.error_string(archive))
        if text.hasPrefix("Unrecognized archive format") {
            return .unsupported("is not a zip or tar archive, or was cut off")
        }
        return .malformed("is a damaged archive: \(text)")
    }
}
