import CaptureBundle
import Foundation
import Hummingbird
import SystemPackage

extension CaptureShelf {
    /// Writes the copy of a bundle that anyone may have: without the position, and without all that its device marked as
    /// withholdable.
    ///
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

extension ResponseBody {
    /// The bytes of a file, which may be deleted from now on. They are read as fast as the client takes them.
    init(_ path: FilePath, _ threads: BlockingThreads) throws {
        let file = try FileHandle(forReadingFrom: URL(filePath: path.string))
        let size = Int(try file.seekToEnd())
        try file.seek(toOffset: 0)
        self.init(contentLength: size) { writer in
            var left = size
            while left > 0 {
                let count = min(1 << 16, left)
                guard let piece = try await threads.run({ try file.read(upToCount: count) }), !piece.isEmpty else {
                    throw Unavailable("the file became shorter while it was sent")
                }
                left -= piece.count
                try await writer.write(ByteBuffer(bytes: piece))
            }
            try await writer.finish(nil)
        }
    }
}
