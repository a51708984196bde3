import Glibc
import PictureMessages

/// Reads requests from standard input and writes answers to standard output.
enum Channel {
    /// Reads exactly `count` bytes; nil at the end of the input.
    static func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let done = unsafe bytes.withUnsafeMutableBytes { unsafe readSome(into: .init(rebasing: $0[filled...])) }
            guard done > 0 else { return nil }
            filled += done
        }
        return bytes
    }

    /// Reads what is there, at most the size of the buffer: 0 bytes at the end of the input, -1 if it cannot be read.
    static func readSome(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let done = unsafe Glibc.read(STDIN_FILENO, buffer.baseAddress, buffer.count)
            if done >= 0 || errno != EINTR { return done }
        }
    }

    /// The size of the input, which must be a file; nil if it is not.
    static var size: Int? {
        let end = lseek(STDIN_FILENO, 0, SEEK_END)
        return end < 0 ? nil : end
    }

    static func seek(to offset: Int) -> Bool { lseek(STDIN_FILENO, offset, SEEK_SET) == offset }

    /// Reads exactly `count` bytes of the input, which must be a file; nil if it has fewer.
    static func read(_ count: Int, at offset: Int) -> [UInt8]? { seek(to: offset) ? read(count) : nil }

    /// Writes all bytes; false if they cannot be written.
    static func write(_ bytes: [UInt8], to descriptor: Int32 = STDOUT_FILENO) -> Bool {
        unsafe bytes.read { source, count in
            var written = 0
            while written < count {
                let done = unsafe Glibc.write(descriptor, source + written, count - written)
                if done < 0 && errno == EINTR { continue }
                guard done > 0 else { return false }
                written += done
            }
            return true
        }
    }

    /// Sends a part of an answer. If it cannot be written, the process ends, because some of its bytes may have arrived: the
    /// client would take the next answer for the missing bytes, and wait for more.
    static func send(_ part: AnswerPart) {
        guard write(part.head.head), write(part.bytes) else { exit(74) }
    }
}
