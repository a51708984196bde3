import ArgumentParser
import CaptureQueue
import QueueFiles
import QueueModel
import SystemPackage

/// Completes names and ids from the queue. A shell asks for them while a person types: nothing is created or printed, and if the
/// queue is missing or cannot be read, no words are offered.
enum QueueCompletions {
    static let destinations = CompletionKind.custom { words, _, _ in
        offered(words) { try $0.destinations.list().map(\.name) }
    }

    static let sessions = CompletionKind.custom { words, _, _ in
        offered(words) { try $0.sessions.list().map(\.name) }
    }

    /// The newest ids that begin with what was typed, at most `most` of them.
    static let ids = CompletionKind.custom { words, _, prefix in
        offered(words) { queue in
            var ids: [String] = []
            var seen = 0
            try queue.captures.list { record in
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

    /// The queue that the command line names with `--queue`, else the usual one.
    private static func folder(_ words: [String]) -> QueueFolder {
        if let index = words.lastIndex(where: { $0 == "--queue" }), index + 1 < words.count {
            return QueueFolder(path: FilePath(words[index + 1]))
        }
        let value = words.compactMap { $0.rest(after: "--queue=") }.last
        return value.map { QueueFolder(path: FilePath($0)) } ?? .usual
    }
}
