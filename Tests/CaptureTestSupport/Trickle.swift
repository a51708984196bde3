import CaptureBundle

/// A stream that gives its bytes in pieces of one size.
package final class Trickle: ByteStream {
    private let bytes: [UInt8]
    private let size: Int
    private var position = 0

    package init(_ bytes: [UInt8], of size: Int) {
        self.bytes = bytes
        self.size = size
    }

    package func fill(_ buffer: inout [UInt8]) -> Int {
        let count = min(size, buffer.count, bytes.count - position)
        for index in 0..<count { buffer[index] = bytes[position + index] }
        position += count
        return count
    }
}
