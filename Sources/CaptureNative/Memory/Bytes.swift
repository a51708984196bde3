import CLinux
import Glibc

extension [UInt8] {
    /// Copies the bytes of the floats, each in little-endian order.
    package init(littleEndian floats: [Float]) {
        #if _endian(little)
            self = unsafe floats.withUnsafeBytes { unsafe [UInt8]($0) }
        #else
            self = floats.map(\.bitPattern.littleEndian).withUnsafeBytes { [UInt8]($0) }
        #endif
    }

    /// Appends the bytes in one copy; `append(contentsOf:)` does not take a `Span`.
    package mutating func append(copying bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Whether both have the same bytes. Compares with `memcmp`, which is faster than `==`.
    package func hasBytes(of other: [UInt8]) -> Bool {
        unsafe count == other.count && memcmp(self, other, count) == 0
    }

    /// Overwrites the bytes from `offset` on, in one copy; they must fit.
    package mutating func overwrite(at offset: Int, with bytes: Span<UInt8>) {
        precondition(offset >= 0 && bytes.count <= count - offset, "bytes do not fit")
        unsafe bytes.withUnsafeBufferPointer { source in
            unsafe withUnsafeMutableBytes { target in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                unsafe _ = memcpy(to + offset, from, source.count)
            }
        }
    }
}

/// Searches for a byte string with the C library's fast `memmem`.
package enum ByteSearch {
    /// The offset of the first occurrence at `start` or later; nil if there is none.
    package static func first(_ needle: [UInt8], in bytes: Span<UInt8>, from start: Int = 0) -> Int? {
        guard start >= 0, start <= bytes.count else { return nil }
        return unsafe bytes.withUnsafeBytes { haystack -> Int? in
            guard let base = haystack.baseAddress else { return needle.isEmpty ? 0 : nil }
            // Lengths are Int or UInt, depending on the version of the C library.
            let (left, length) = (haystack.count - start, needle.count)
            guard let found = unsafe memmem(base + start, numericCast(left), needle, numericCast(length)) else {
                return nil
            }
            return unsafe UnsafeRawPointer(found) - base
        }
    }
}

/// What happens to memory that the process has freed.
package enum FreedMemory {
    /// Keeps up to 4 MiB of it for each thread. By default glibc gives blocks of 128 KiB and more back to the kernel at once,
    /// which then has to clear new pages for the next buffer: that took a fifth of the time of a transfer.
    package static func keep() {
        _ = mallopt(capture_mmap_threshold, 4 << 20)
        _ = mallopt(capture_trim_threshold, 4 << 20)
    }
}
