package import CaptureBundle
package import CaptureNative
import PictureMessages
package import SystemPackage

/// A piece of the contents of an archive. Pieces arrive in the order of the archive.
package enum ArchiveEvent: Sendable {
    /// A regular file begins. The name is relative, has no `.` or `..`, and occurs once in the archive.
    case file(name: [UInt8])
    /// The next bytes of that file.
    case bytes([UInt8])
}

package struct ArchiveLimits: Sendable {
    package var entries = 100_000
    /// The number of bytes of all files together.
    package var bytes = 64 << 30
    /// All files together may have at most `ratio` times the bytes of the archive, plus `freeBytes`.
    package var ratio = 1000
    package var freeBytes = 64 << 20

    package init() {}

    func bytes(ofArchive count: Int) -> Int {
        let (product, isLarge) = max(0, count).multipliedReportingOverflow(by: ratio)
        return isLarge ? bytes : min(bytes, product + min(freeBytes, Int.max - product))
    }
}

extension PictureDecoder {
    /// Unpacks an archive (zip, tar, tar.gz, tar.zst) in a process of its own.
    ///
    /// Files are passed on before the whole archive was checked. If this function throws, the caller has to discard what
    /// it received.
    ///
    /// - Parameters:
    ///   - file: The archive, a regular file. Reading changes its file position.
    ///   - path: The name of the archive for messages.
    ///   - body: Receives each file and its bytes.
    /// - Throws: `BundleError` for an archive that is damaged, cut off or above the limits, or that has a link, another
    ///   special file, a name that leads out of the archive, or the same name twice; any error of `body`.
    package func unpack(
        _ file: FileHandle, named path: FilePath, limits: ArchiveLimits = ArchiveLimits(),
        _ body: (ArchiveEvent) throws(BundleError) -> Void
    ) throws(BundleError) {
        try native({ .reading(path, $0) }) {
            let size = try file.status().size
            try file.seekToStart()
            do {
                let process = try DecoderProcess(try program(), .archive, input: file)
                var check = ArchiveCheck(limits: limits, byteLimit: limits.bytes(ofArchive: size))
                try process.parts(timeLimit: timeLimit) { try body(check.event($0, $1)) }
            } catch let failure as PictureFailure {
                throw failure.error(path, code: .rawArchive)
            }
        }
    }
}

/// Checks the parts that the decoder sends for an archive.
private struct ArchiveCheck {
    let limits: ArchiveLimits
    let byteLimit: Int
    var names: Set<[UInt8]> = []
    var bytes = 0

    mutating func event(_ head: PicturePart, _ content: [UInt8]) throws(PictureFailure) -> ArchiveEvent {
        switch head.kind {
        case .archiveFile:
            try check(name: content)
            return .file(name: content)
        case .archiveBytes where !names.isEmpty:
            bytes += content.count
            guard bytes <= byteLimit else {
                throw PictureFailure(
                    .tooLarge,
                    "is an archive with more than \(byteLimit) bytes of content, the limit for an archive of its size")
            }
            return .bytes(content)
        case .archiveOther:
            throw PictureFailure(
                .unsupported,
                "is an archive with a link or special file (\(Self.shown(content))), expected only files",
                cause: .archiveLink)
        default: throw .misunderstood
        }
    }

    private mutating func check(name: [UInt8]) throws(PictureFailure) {
        let pieces = name.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
        let bad: [[UInt8]] = [[], Array(".".utf8), Array("..".utf8)]
        // `./name` is what `tar c .` writes.
        let parts = pieces.first == bad[1] && pieces.count > 1 ? pieces.dropFirst() : pieces[...]
        guard !name.contains(0), parts.allSatisfy({ !bad.contains($0) && $0.count <= FilePath.nameLimit }) else {
            throw .malformed("is an archive with the name \(Self.shown(name)), expected a path inside the archive")
        }
        guard names.insert(Array(parts.joined(separator: [UInt8(ascii: "/")]))).inserted else {
            throw .malformed("is an archive with the name \(Self.shown(name)) twice")
        }
        guard names.count <= limits.entries else {
            throw PictureFailure(.tooLarge, "is an archive of more than \(limits.entries) files")
        }
    }

    private static func shown(_ name: [UInt8]) -> String {
        "\"\(String(decoding: name, as: UTF8.self).cut(to: 200))\""
    }
}
