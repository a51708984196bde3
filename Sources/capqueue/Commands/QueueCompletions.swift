import ArgumentParser
import CaptureQueue
import CommandSupport
import SystemPackage

/// Words that a shell offers out of the queue itself: names and ids. A shell asks while a person types, so nothing is made,
/// nothing is said, and where there is no queue, or it cannot be read, nothing is offered.
enum QueueCompletions {
    static let destinations = CompletionKind.custom { words, _, _ in
        offered(words) { try $0.destinations().map(\.name) }
    }

    static let sessions = CompletionKind.custom { words, _, _ in
        offered(words) { try $0.sessions().map(\.name) }
    }

    /// The newest captures. Of more than these a person types some digits and asks again.
    static let ids = CompletionKind.custom { words, _, prefix in
        offered(words) { queue in
            var ids: [String] = []
            var seen = 0
            try queue.list { record in
                if record.id.hasPrefix(prefix) { ids.append(record.id) }
                seen += 1
                return ids.count < most && seen < mostSeen
            }
            return ids
        }
    }

    private static let most = 100
    private static let mostSeen = 5000

    private static func offered(_ words: [String], _ list: (UploadQueue) throws -> [String]) -> [String] {
        guard let queue = try? UploadQueue(at: folder(words)) else { return [] }
        defer { queue.close() }
        return (try? list(queue)) ?? []
    }

    /// The queue of the command line: `--queue` where it is given.
    private static func folder(_ words: [String]) -> QueueFolder {
        if let index = words.lastIndex(where: { $0 == "--queue" }), index + 1 < words.count {
            return QueueFolder(path: FilePath(words[index + 1]))
        }
        let value = words.compactMap { $0.rest(after: "--queue=") }.last
        return value.map { QueueFolder(path: FilePath($0)) } ?? .usual
    }
}
