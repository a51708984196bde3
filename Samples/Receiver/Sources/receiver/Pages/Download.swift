import CaptureBundle
import Foundation
import Hummingbird
import SystemPackage

/// The bundle that readers of a page may download.
enum Download: Sendable {
    /// The bundle as it was received.
    case whole
    /// A copy that lacks entries, so that it does not tell the place. It may be that it lacked them before.
    case withoutPlace(leftOut: [String])
    /// The place cannot be left out; the text says why.
    case refused(String)
}

/// Makes copies of bundles that do not tell the place.
struct PlaceHiding: Sendable {
    /// Writes a copy to a path, unless the result is `refused`.
    ///
    /// An entry that may tell the place is left out too, if the device has marked it as withholdable.
    func copy(_ bundle: FilePath, to target: FilePath) throws -> Download {
        var others = EntrySelection()
        while true {
            do throws(BundleError) {
                let redacted = try Redactor(hidingPositionAnd: others)
                    .redact(BundleSource(file: bundle), to: .file(target))
                return .withoutPlace(leftOut: (redacted.withheld + redacted.withheldBefore).map(\.path.description))
            } catch {
                switch error.code {
                case .redactPosition:
                    let telling = ([error] + error.further).compactMap { $0.entry.flatMap { EntryPath($0) } }
                    let new = telling.filter { !others.contains($0) }
                    guard !new.isEmpty else { return Self.refusal(telling) }
                    for path in new { others.add(path) }
                case .redactEntry:
                    return Self.refusal(([error] + error.further).compactMap { $0.entry.flatMap { EntryPath($0) } })
                case _ where error.verdict != nil:
                    return .refused("the stored bundle is damaged")
                default: throw error
                }
            }
        }
    }

    private static func refusal(_ entries: [EntryPath]) -> Download {
        let names = entries.map(\.description).joined(separator: " and ")
        return .refused(
            "\(names.isEmpty ? "an entry" : names) may tell the place, and the device did not mark this as withholdable"
        )
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
                    throw BundleUnavailable("the file became shorter while it was sent")
                }
                left -= piece.count
                try await writer.write(ByteBuffer(bytes: piece))
            }
            try await writer.finish(nil)
        }
    }
}
