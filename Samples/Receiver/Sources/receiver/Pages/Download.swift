import CaptureBundle
import Foundation
import Hummingbird
import SystemPackage

/// The copy of a bundle that anyone may have: without the position, and without all that its device marked as withholdable.
enum PublicCopy {
    /// Writes the copy.
    ///
    /// - Parameter report: The report of the whole bundle.
    /// - Returns: Why there is no such copy; nil if it was written.
    static func write(_ bundle: FilePath, _ report: VerificationReport, to target: FilePath) throws -> String? {
        var others = EntrySelection()
        for entry in report.manifest?.entries ?? [] where entry.isWithholdable { others.add(entry.path) }
        do throws(BundleError) {
            _ = try Redactor(hidingPositionAnd: others).redact(BundleSource(file: bundle), to: .file(target))
            return nil
        } catch {
            if error.verdict != nil { return "the stored bundle is damaged" }
            guard [.redactPosition, .redactEntry].contains(error.code) else { throw error }
            let names = ([error] + error.further).compactMap(\.entry).joined(separator: " and ")
            return "\(names) may tell the place, and the device did not mark this as withholdable"
        }
    }
}

/// An open file whose bytes are a response. The file may have been deleted already.
final class FileContent: Sendable {
    private let file: FileHandle
    private let size: Int
    private static let piece = 1 << 16

    init(_ path: FilePath) throws {
        file = try FileHandle(forReadingFrom: URL(filePath: path.string))
        size = Int(try file.seekToEnd())
        try file.seek(toOffset: 0)
    }

    /// The content as the body of one response.
    ///
    /// - Parameter threads: Read the file in small pieces, as fast as the client takes them.
    func body(_ threads: BlockingThreads) -> ResponseBody {
        ResponseBody(contentLength: size) { [self] writer in
            var left = size
            while left > 0 {
                let count = min(Self.piece, left)
                guard let piece = try await threads.run({ try self.file.read(upToCount: count) }), !piece.isEmpty else {
                    throw Unavailable("the file became shorter while it was sent")
                }
                left -= piece.count
                try await writer.write(ByteBuffer(bytes: piece))
            }
            try await writer.finish(nil)
        }
    }
}
