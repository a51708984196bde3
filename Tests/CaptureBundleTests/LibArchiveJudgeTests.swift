import CLibArchive
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

/// libarchive's ustar writer makes the same bytes as ours from the paths and contents of a bundle.
struct LibArchiveJudgeTests {
    @Test func writesTheSameArchive() throws {
        let library = try #require(LibArchive(), "libarchive cannot be loaded")
        let bundle = try #require(try Places.sample.children.first { $0.pathExtension == "bundle" }).bytes
        let entries = try Self.entries(of: bundle)
        #expect(entries.count >= 6)
        #expect(try library.archive(entries, capacity: bundle.count + 4096) == bundle)
    }

    @Test(arguments: [0, 1, 511, 512, 513, 131_071, 131_072, 131_073])
    func writesTheSamePadding(_ size: Int) throws {
        let library = try #require(LibArchive(), "libarchive cannot be loaded")
        let room = try BundleRoom()
        let path = try room.bundle(String(repeating: "x", count: size), name: "photo")
        let bundle = try URL(filePath: path.string).bytes
        #expect(try library.archive(Self.entries(of: bundle), capacity: bundle.count + 4096) == bundle)
    }

    /// Reads the entries without our library: the name is at 0, the size in octal digits at 124.
    private static func entries(of bundle: [UInt8]) throws -> [(name: String, content: [UInt8])] {
        var entries: [(String, [UInt8])] = []
        var offset = 0
        while offset + 512 <= bundle.count, bundle[offset] != 0 {
            let name = String(decoding: bundle[offset..<(offset + 100)].prefix { $0 != 0 }, as: UTF8.self)
            let digits = String(decoding: bundle[(offset + 124)..<(offset + 135)], as: UTF8.self)
            let size = try #require(Int(digits, radix: 8))
            entries.append((name, Array(bundle[(offset + 512)..<(offset + 512 + size)])))
            offset += 512 + (size + 511) / 512 * 512
        }
        return entries
    }
}

/// The library libarchive, which only these tests load.
private struct LibArchive {
    private var calls: capture_archive

    init?() {
        calls = capture_archive()
        guard unsafe capture_archive_load(&calls) == 1 else { return nil }
    }

    func archive(_ entries: [(name: String, content: [UInt8])], capacity: Int) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: capacity)
        var used = 0
        let archive = try unsafe #require(calls.write_new())
        defer { _ = unsafe calls.write_free(archive) }
        let isWritten = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe calls.write_set_format_ustar(archive) == ARCHIVE_OK
                && calls.write_add_filter_none(archive) == ARCHIVE_OK
                && calls.write_set_bytes_per_block(archive, 512) == ARCHIVE_OK
                && calls.write_set_bytes_in_last_block(archive, 1) == ARCHIVE_OK
                && calls.write_open_memory(archive, bytes.baseAddress, bytes.count, &used) == ARCHIVE_OK
                && entries.allSatisfy { unsafe write($0.name, $0.content, to: archive) }
                && calls.write_close(archive) == ARCHIVE_OK
        }
        #expect(isWritten)
        return Array(buffer[..<used])
    }

    private func write(_ name: String, _ content: [UInt8], to archive: OpaquePointer) -> Bool {
        guard let entry = calls.entry_new() else { return false }
        defer { unsafe calls.entry_free(entry) }
        unsafe calls.entry_set_pathname(entry, name)
        unsafe calls.entry_set_size(entry, Int64(content.count))
        unsafe calls.entry_set_filetype(entry, S_IFREG)
        unsafe calls.entry_set_perm(entry, 0o644)
        unsafe calls.entry_set_mtime(entry, 0, 0)
        guard unsafe calls.write_header(archive, entry) == ARCHIVE_OK else { return false }
        return unsafe content.withUnsafeBytes { bytes in
            unsafe bytes.isEmpty || calls.write_data(archive, bytes.baseAddress, bytes.count) == bytes.count
        }
    }
}
