import CaptureNative

/// Reads the sample type from an OpenEXR header. The decoded samples are always 32-bit floats, so they do not show it.
enum OpenEXRHeader {
    private static let magic: [UInt8] = [0x76, 0x2f, 0x31, 0x01]
    /// The attribute `channels`, its type, and the size of its value.
    private static let channels = Array("channels\0chlist\0".utf8)

    /// Whether the samples of the first channel have 16 bits. The channel list has for each channel a name that ends
    /// with NUL and the type as a 32-bit number: 0 unsigned, 1 half, 2 float (OpenEXR file layout, "chlist").
    static func isHalf(_ bytes: [UInt8]) -> Bool {
        guard bytes.starts(with: magic), let start = ByteSearch.first(channels, in: bytes.span) else { return false }
        let list = bytes.dropFirst(start + channels.count + 4)
        guard let end = list.prefix(256).firstIndex(of: 0) else { return false }
        return list.dropFirst(end + 1 - list.startIndex).prefix(4).elementsEqual([1, 0, 0, 0])
    }
}
