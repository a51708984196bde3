import CLibArchive
import Glibc

/// Writes a ustar archive through libarchive to an open file or pipe.
///
/// libarchive fills missing bytes of an entry with zeros and cuts surplus ones off, and tells neither. So this type counts:
/// an entry is finished only with exactly the bytes that its header promised.
@safe
package final class ArchiveWriteHandle {
    private let archive: OpaquePointer
    private let sink: FileHandle
    private var missing = 0

    /// - Parameter sink: stays open afterwards; the caller syncs it.
    package init(sink: FileHandle) throws(NativeError) {
        guard let archive = unsafe archive_write_new() else {
            throw NativeError(origin: .libarchive, call: "archive_write_new", code: ENOMEM, text: "out of memory")
        }
        unsafe self.archive = archive
        self.sink = sink
        try unsafe check(archive_write_set_format_ustar(archive), "archive_write_set_format_ustar")
        try unsafe check(archive_write_add_filter_none(archive), "archive_write_add_filter_none")
        try unsafe check(archive_write_set_bytes_per_block(archive, 1 << 17), "archive_write_set_bytes_per_block")
        // Without this the padding at the end depends on whether the sink is a file or a pipe.
        try unsafe check(archive_write_set_bytes_in_last_block(archive, 1), "archive_write_set_bytes_in_last_block")
        try unsafe check(archive_write_open_fd(archive, sink.descriptor), "archive_write_open_fd")
    }

    deinit {
        // A writer that was not finished must not write an end that makes half an archive look whole.
        unsafe archive_write_fail(archive)
        unsafe archive_write_free(archive)
    }

    /// Begins an entry of exactly `size` bytes.
    package func beginEntry(path: String, size: Int) throws(NativeError) {
        try requireWhole()
        guard let entry = unsafe archive_entry_new() else {
            throw NativeError(origin: .libarchive, call: "archive_entry_new", code: ENOMEM, text: "out of memory")
        }
        defer { unsafe archive_entry_free(entry) }
        unsafe archive_entry_set_pathname(entry, path)
        unsafe archive_entry_set_size(entry, Int64(size))
        unsafe capture_entry_set_regular_file(entry)
        unsafe archive_entry_set_perm(entry, 0o644)
        unsafe archive_entry_set_mtime(entry, 0, 0)
        try unsafe check(archive_write_header(archive, entry), "archive_write_header")
        missing = size
    }

    package func write(_ bytes: Span<UInt8>) throws(NativeError) {
        guard bytes.count <= missing else { throw surplus(bytes.count - missing) }
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { raw in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: raw[written...])
                return unsafe archive_write_data(archive, rest.baseAddress, rest.count)
            }
            guard count > 0 else { throw failure("archive_write_data") }
            written += count
        }
        missing -= bytes.count
    }

    /// Writes the end of the archive. Nothing can be added after it.
    package func finish() throws(NativeError) {
        try requireWhole()
        try unsafe check(archive_write_close(archive), "archive_write_close")
    }

    private func requireWhole() throws(NativeError) {
        guard missing == 0 else {
            throw NativeError(
                origin: .libarchive, call: "archive_write_data", code: EINVAL,
                text: "\(missing) bytes of an entry were not written")
        }
    }

    private func surplus(_ count: Int) -> NativeError {
        NativeError(
            origin: .libarchive, call: "archive_write_data", code: EINVAL, text: "\(count) bytes more than announced")
    }

    private func check(_ code: Int32, _ call: String) throws(NativeError) {
        switch ArchiveStatus(code) {
        case .ok: return
        case .end, .retry, .warning, .failed, .fatal, .unknown: throw failure(call)
        }
    }

    /// libarchive hands on `errno` of the write that failed, so a full disk or a closed pipe is told as the system tells it.
    private func failure(_ call: String) -> NativeError {
        let code = unsafe archive_errno(archive)
        if code > 0 && code < 200 { return .system("write", code) }
        let text = unsafe archive_error_string(archive).map { unsafe String(cString: $0) } ?? "no reason given"
        return NativeError(origin: .libarchive, call: call, code: code, text: text)
    }
}
