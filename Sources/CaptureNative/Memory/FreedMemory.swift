import CLinux

/// What happens to memory that the process has freed.
package enum FreedMemory {
    /// Keeps up to 4 MiB of it for each thread. By default glibc gives blocks of 128 KiB and more back to the kernel at once,
    /// which then has to clear new pages for the next buffer: that took a fifth of the time of a transfer.
    package static func keep() {
        _ = mallopt(capture_mmap_threshold, 4 << 20)
        _ = mallopt(capture_trim_threshold, 4 << 20)
    }
}
