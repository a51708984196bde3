import Foundation

/// A capture bundle.
public struct SignedBundle: Sendable {
    let capture: RawCapture
    let manifest: Manifest
    let assertion: Data
    let entries: [BundleEntry]

    /// The UUID of the capture's content.
    public var id: String { manifest.id }

    /// The file: a ustar archive (Spec/capture-bundle.md section 3).
    public var bytes: Data {
        let magic = Data("application/vnd.capture-bundle+tar;version=1\n".utf8)
        let first = [("mimetype", magic), ("manifest.json", manifest.bytes), ("assertion.cbor", assertion)]
        return (first + entries.map { ($0.path, $0.bytes) }).reduce(into: Data()) { archive, entry in
            archive += Self.header(entry.0, size: entry.1.count) + entry.1
            archive += Data(count: -entry.1.count & 511)
        } + Data(count: 1024)
    }

    private static func header(_ path: String, size: Int) -> Data {
        var block = Data(count: 512)
        func put(_ text: String, at offset: Int) {
            block.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
        }
        put(path, at: 0)
        put("000644 \0" + "000000 \0" + "000000 \0", at: 100)
        put(String(format: "%011lo 00000000000         0", size), at: 124)
        put("ustar\0" + "00", at: 257)
        put("000000 \0" + "000000 ", at: 329)
        put(String(format: "%06lo\0 ", block.reduce(0) { $0 + Int($1) }), at: 148)
        return block
    }
}
