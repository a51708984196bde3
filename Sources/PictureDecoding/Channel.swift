import Glibc
import PictureMessages

/// Reads requests from standard input and writes answers to standard output.
enum Channel {
    /// Reads exactly `count` bytes; nil at the end of the input.
    static func read(_ count: Int) -> [UInt8]? {
        var isWhole = true
        let bytes = unsafe [UInt8].filled(count) { target in
            var filled = 0
            while filled < count {
                let done = unsafe Glibc.read(STDIN_FILENO, target + filled, count - filled)
                if done < 0 && errno == EINTR { continue }
                guard done > 0 else {
                    isWhole = false
                    return
                }
                filled += done
            }
        }
        return isWhole ? bytes : nil
    }

    /// Writes all bytes. It returns false if the other end is closed.
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

    static func send(_ parts: [AnswerPart]) -> Bool {
        parts.allSatisfy { write($0.head.head) && write($0.bytes) }
    }
}
