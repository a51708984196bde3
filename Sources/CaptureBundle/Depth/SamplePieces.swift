/// Assembles little-endian floats from bytes that arrive in pieces of any size.
package struct SamplePieces {
    private var pending: UInt32 = 0
    private var pendingBytes = 0

    package init() {}

    package mutating func read(_ bytes: Span<UInt8>, _ body: (UInt32) -> Void) {
        var index = 0
        while index < bytes.count {
            if pendingBytes == 0 && bytes.count - index >= 4 {
                body(
                    UInt32(bytes[index]) | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]) << 16
                        | UInt32(bytes[index + 3]) << 24)
                index += 4
                continue
            }
            pending |= UInt32(bytes[index]) << (8 * UInt32(pendingBytes))
            pendingBytes += 1
            index += 1
            if pendingBytes == 4 {
                body(pending)
                (pending, pendingBytes) = (0, 0)
            }
        }
    }
}
