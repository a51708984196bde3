import CaptureBundle
import CaptureDevice
import CaptureNative
package import SystemPackage

/// Collects the entries that are copied into the bundle byte for byte.
struct CarriedFiles {
    private(set) var files: [RawCapture.Carried] = []

    mutating func add(_ path: EntryPath, mediaType: String? = nil, _ bytes: [UInt8]) throws(BundleError) {
        files.append(try RawCapture.Carried(path, mediaType: mediaType, bytes))
    }

    /// Adds `source/<name>`. If another file already has this name, it gets a number in front.
    mutating func addSource(_ file: FilePath, _ bytes: [UInt8]) throws(BundleError) {
        guard files.count < BundleLimits.entries / 2 else {
            throw BundleError(.rawCapture, "has too many files for --keep-source", file: file)
        }
        let name = file.lastComponent?.bytes ?? []
        var path = Self.path(name)
        var number = 2
        while files.contains(where: { $0.entry.path == path }) {
            path = Self.path(Array("\(number)-".utf8) + name)
            number += 1
        }
        files.append(try RawCapture.Carried(path, mediaType: Self.mediaType(file), bytes))
    }

    /// The entry path for a file name, in small letters, with `-` for every byte that a path does not allow. A name that
    /// is too long loses its beginning. A name that is still not allowed gets `x-` in front.
    static func path(_ name: [UInt8]) -> EntryPath {
        let room = BundleLimits.pathBytes - "source/x-".utf8.count
        let kept = name.suffix(room).map { byte -> UInt8 in
            let small = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            return EntryPath.isAlphanumeric(small) || ".-_".utf8.contains(small) ? small : UInt8(ascii: "-")
        }
        var text = String(decoding: kept, as: UTF8.self)
        while let rest = text.rest(before: ".") { text = rest }
        return EntryPath("source/\(text)") ?? EntryPath("source/x-\(text)") ?? .unnamedSource
    }

    private static let mediaTypes = [
        "png": "image/png", "tif": "image/tiff", "tiff": "image/tiff", "exr": "image/x-exr", "json": "application/json",
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "heic": "image/heic", "gz": "application/gzip",
        "zlib": "application/zlib", "pfm": "image/x-portable-floatmap", "pgm": "image/x-portable-graymap",
        "npy": "application/x-npy",
    ]

    private static func mediaType(_ file: FilePath) -> String? { file.ending.flatMap { mediaTypes[$0] } }
}

extension FilePath {
    /// The ending of the name in small letters, without its point; nil if there is none.
    package var ending: String? {
        guard let parts = lastComponent?.string.pieces(by: "."), parts.count > 1 else { return nil }
        return parts.last?.lowercased()
    }
}

extension FrameReader {
    /// Adds the app's own files about the frame and the scan, if the user wants the sources.
    mutating func carryAppFiles() throws(BundleError) {
        guard options.keepsSource else { return }
        for path in frame.carried { try carried.addSource(path, tree.read(path, limit: FileLimits.carried)) }
    }
}
