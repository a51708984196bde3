import CLibArchive
import Glibc
import PictureMessages

/// The bytes of the tar archive on standard input, decompressed.
protocol TarSource: AnyObject {
    /// Writes the next bytes to `block`, which is not empty.
    ///
    /// - Returns: Their number; 0 at the end, which is returned only if the check of the compressed form is right.
    func read(into block: UnsafeMutableRawBufferPointer) throws(DecodingRefusal) -> Int
}

extension UnsafeMutableRawBufferPointer {
    /// The block in which a compressed or plain archive is read.
    static func archiveBlock() -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: PictureLimits.pieceBytes, alignment: 16)
    }
}

/// A tar archive that is not compressed. This form has no check of the contents.
final class PlainTar: TarSource {
    func read(into block: UnsafeMutableRawBufferPointer) throws(DecodingRefusal) -> Int {
        let count = unsafe Channel.readSome(into: block)
        guard count >= 0 else { throw .malformed("cannot be read") }
        return count
    }
}

/// A tar archive that is compressed by gzip: one or more members (RFC 1952), after which only zeros may follow.
@safe
final class GzipTar: TarSource {
    private let inflater: ZlibInflater
    private let block = unsafe UnsafeMutableRawBufferPointer.archiveBlock()
    /// The bytes of the block that are not inflated yet.
    private var rest = 0..<0
    private var isInMember = true
    private var wasPadded = false

    init() throws(DecodingRefusal) { inflater = try ZlibInflater(.gzip, failure: "is damaged gzip data: ") }

    deinit { unsafe block.deallocate() }

    func read(into target: UnsafeMutableRawBufferPointer) throws(DecodingRefusal) -> Int {
        while true {
            if rest.isEmpty {
                rest = try 0..<(unsafe PlainTar().read(into: block))
                guard !rest.isEmpty else { break }
            }
            if !isInMember, try !beginMember() { continue }
            let step = try unsafe inflater.inflate(UnsafeRawBufferPointer(rebasing: block[rest]), into: target)
            rest.removeFirst(step.consumed)
            if step.isFinished { isInMember = false }
            if step.produced > 0 { return step.produced }
        }
        guard !isInMember else { throw .malformed("is gzip data that was cut off") }
        return 0
    }

    /// Skips zeros after a member. Returns false if nothing else is in the block.
    private func beginMember() throws(DecodingRefusal) -> Bool {
        let zeros = unsafe block[rest].prefix { $0 == 0 }.count
        wasPadded = wasPadded || zeros > 0
        rest.removeFirst(zeros)
        guard let first = rest.first else { return false }
        guard !wasPadded, unsafe block[first] == 0x1f else { throw .malformed("has other bytes after its gzip data") }
        inflater.reset()
        isInMember = true
        return true
    }
}

/// A tar archive that is compressed by Zstandard, bzip2 or xz, decompressed by libarchive. A frame of Zstandard has a
/// checksum if its writer wanted one (RFC 8878 section 3.1.1).
@safe
final class FilteredTar: TarSource {
    enum Filter: String { case zstandard = "Zstandard", bzip2, xz }

    private let filter: Filter
    private let calls: capture_archive_reader
    private let archive: OpaquePointer
    private let block = unsafe UnsafeMutableRawBufferPointer.archiveBlock()
    private var isOpen = false

    /// nil if the archive is not compressed in one of these ways.
    init?(_ calls: capture_archive_reader, _ start: [UInt8]) throws(DecodingRefusal) {
        let marks: [(Filter, [UInt8])] = [
            (.zstandard, [0x28, 0xb5, 0x2f, 0xfd]), (.bzip2, Array("BZh".utf8)), (.xz, [0xfd, 0x37, 0x7a, 0x58]),
        ]
        guard let filter = marks.first(where: { start.starts(with: $0.1) })?.0 else { return nil }
        guard let archive = calls.read_new() else { throw .tooLarge }
        (self.calls, self.filter) = (calls, filter)
        unsafe self.archive = unsafe archive
    }

    deinit {
        _ = unsafe calls.read_free(archive)
        unsafe block.deallocate()
    }

    func read(into target: UnsafeMutableRawBufferPointer) throws(DecodingRefusal) -> Int {
        if !isOpen { try open() }
        let count = unsafe calls.read_data(archive, target.baseAddress, target.count)
        guard count >= 0 else { throw damage }
        return count
    }

    /// The whole decompressed stream is one entry of libarchive's format "raw".
    private func open() throws(DecodingRefusal) {
        isOpen = true
        switch filter {
        case .zstandard: _ = unsafe calls.read_support_filter_zstd(archive)
        case .bzip2: _ = unsafe calls.read_support_filter_bzip2(archive)
        case .xz: _ = unsafe calls.read_support_filter_xz(archive)
        }
        _ = unsafe calls.read_support_format_raw(archive)
        _ = unsafe calls.read_set_callback_data(archive, block.baseAddress)
        _ = unsafe calls.read_set_read_callback(archive) { _, block, bytes in
            guard let block = unsafe block else { return la_ssize_t(ARCHIVE_FATAL) }
            unsafe bytes?.pointee = UnsafeRawPointer(block)
            return unsafe Channel.readSome(into: .init(start: block, count: PictureLimits.pieceBytes))
        }
        _ = unsafe calls.read_open1(archive)
        var entry: OpaquePointer?
        guard unsafe calls.read_next_header(archive, &entry) == ARCHIVE_OK else { throw damage }
    }

    private var damage: DecodingRefusal {
        let text = unsafe String(library: calls.error_string(archive))
        if filter == .zstandard, text.contains("too much memory") {
            let size = window >= 1 << 30 ? "\(window >> 30) GiB" : "\(window >> 20) MiB"
            return DecodingRefusal(.tooLarge, "is Zstandard data that needs a window of \(size), more than 128 MiB")
        }
        return .malformed("is damaged \(filter.rawValue) data: \(text)")
    }

    /// The window that the first frame asks for (RFC 8878 section 3.1.1.1.2), if its header has it.
    private var window: Int {
        let place = ArchiveUnpacker.skippable
        guard let byte = Channel.read(6, at: place)?.last else { return 0 }
        let base = 1 << (10 + Int(byte >> 3))
        return base + base / 8 * Int(byte & 7)
    }
}
