import CLibArchive

/// What a libarchive call answers (archive.h). Anything but `ok` stops a writer: a warning there means lost metadata.
enum ArchiveStatus {
    case ok, end, retry, warning, failed, fatal
    case unknown(Int32)

    init(_ code: Int32) {
        switch code {
        case ARCHIVE_OK: self = .ok
        case ARCHIVE_EOF: self = .end
        case ARCHIVE_RETRY: self = .retry
        case ARCHIVE_WARN: self = .warning
        case ARCHIVE_FAILED: self = .failed
        case ARCHIVE_FATAL: self = .fatal
        default: self = .unknown(code)
        }
    }
}
