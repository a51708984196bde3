public import ArgumentParser
import CaptureBundle
import CaptureDevice
import CaptureQueue
import CommandSupport
import QueueFiles
import QueueModel
import SystemPackage

struct QueueOptions: ParsableArguments {
    @Option(
        name: .customLong("queue"), "The folder of the queue.",
        discussion: "Default: CAPQUEUE_DIR, else $XDG_DATA_HOME/capqueue.", value: "dir", completion: .directory)
    var path: String?

    var folder: QueueFolder { path.map { QueueFolder(path: FilePath($0)) } ?? .usual }

    func validate() throws {
        if path == "" { throw ValidationError("--queue is empty, expected the name of a folder") }
        CommandWords.nameQueue(path)
    }

    /// Opens the queue for `body` and closes it, so that all its data is in one file again.
    ///
    /// - Parameter changes: whether `body` makes a small change, which may use the reserve when the disk is full.
    func with<Value>(
        createIfMissing: Bool = false, changes: Bool = false, _ body: (UploadQueue) throws -> Value
    ) throws -> Value {
        let isNew = createIfMissing && !folder.exists
        let queue = try UploadQueue(
            at: folder, createIfMissing: createIfMissing, freesReserve: changes, signers: .keyFiles)
        defer { queue.close() }
        if isNew { folder.reportDisk() }
        return try body(queue)
    }
}

/// The options `--state` and `--session`.
struct FilterOptions: ParsableArguments {
    @Option(
        "Only captures in this state, or in several, separated by commas.", value: "state",
        completion: ListCompletion.kind(StateList.allValueStrings))
    var state: StateList?

    @Option("Only captures of this session.", value: "name", completion: QueueCompletions.sessions)
    var session: String?

    var filter: CaptureFilter {
        var filter = CaptureFilter()
        filter.states = state?.states ?? []
        filter.session = session
        return filter
    }
}

struct StateList: ExpressibleByArgument {
    let states: [DeliveryState]

    init?(argument: String) {
        let given = argument.pieces(by: ",", keepsEmpty: true)
        guard given.allSatisfy(Self.allValueStrings.contains) else { return nil }
        states = DeliveryState.allCases.filter { given.contains($0.rawValue) }
    }

    static var allValueStrings: [String] { DeliveryState.allCases.map(\.rawValue) }
}

/// Ids that a user gives as arguments; `-` reads them from standard input.
extension [String] {
    func requireOneSource() throws {
        if contains("-") && count > 1 {
            throw ValidationError("\"-\" reads the ids from standard input, so give no other ids")
        }
    }

    func given() throws -> [String] { self == ["-"] ? try LineList.read() : self }
}

/// A duration is written as an age, such as `7d`.
extension Duration: @retroactive ExpressibleByArgument {
    public init?(argument: String) { self.init(age: argument) }
}

/// A number of bytes, such as `500MB`.
struct SizeArgument: ExpressibleByArgument {
    let bytes: Int

    init?(argument: String) {
        guard let bytes = ByteSize.bytes(argument) else { return nil }
        self.bytes = bytes
    }
}

/// A time: RFC 3339, or `+2h` for two hours from now.
enum MomentArgument: ExpressibleByArgument {
    case time(CaptureTime)
    case span(Duration)

    init?(argument: String) {
        if let later = argument.rest(after: "+") {
            guard let span = Duration(age: later) else { return nil }
            self = .span(span)
        } else {
            guard let time = CaptureTime(argument) else { return nil }
            self = .time(time)
        }
    }
}

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
