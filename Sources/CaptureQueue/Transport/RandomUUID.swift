import CaptureBundle
import CaptureNative
import SystemPackage

/// UUIDs of chance (RFC 9562 version 4).
enum RandomUUID {
    /// - Parameter bytes: 16 of them.
    static func text(of bytes: [UInt8]) -> String {
        var bytes = bytes
        guard bytes.count == 16 else { return "00000000-0000-4000-8000-000000000000" }
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        let hex = Hex.encode(bytes)
        let ends = [8, 12, 16, 20, 32]
        var start = 0
        return ends.map { end in
            defer { start = end }
            return String(Array(hex)[start..<end])
        }.joined(separator: "-")
    }

    static func make() throws -> String {
        text(of: try onFile("random numbers") { () throws(NativeError) in try RandomBytes.make(16) })
    }
}
