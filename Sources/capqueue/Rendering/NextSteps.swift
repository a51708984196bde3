import CaptureQueue

/// What a person can do next, as hints that name the command.
enum NextSteps {
    private static let add = "capqueue dest add NAME --kind KIND ..."

    /// After a destination was blocked: nothing where waiting helps.
    static func of(_ block: Block, _ name: String) -> [String] {
        let set = "capqueue dest set \(name)"
        let run = "capqueue run then sends what waits"
        switch block.reason {
        case .tls where block.message.contains("begins with http://"): return ["\(set) --url URL changes the URL; \(run)"]
        case .endpoint: return ["\(set) --url URL changes the URL; \(run)"]
        case .refusing:
            return ["\(set) changes its URL or other settings; capqueue resume --dest \(name) and \(run)"]
        case .credentials:
            return ["\(set) with --token-file, --key or --device-id changes what was refused; \(run)"]
        case .tls: return ["\(set) --ca FILE names the authority of the server's certificate; \(run)"]
        case .local, .unproven, .address: return ["capqueue dest show \(name) prints its settings; \(set) changes them"]
        case .wait, .full, .offline, .failing: return []
        }
    }

    /// After a test that found nobody: a network that is away needs no hint in a run.
    static func ofTest(_ block: Block, _ name: String) -> [String] {
        guard block.reason == .offline else { return of(block, name) }
        return [
            "if the server is up, its host, its port or http:// and https:// are wrong: capqueue dest set \(name) --url URL"
        ]
    }

    /// After a run that leaves captures which failed for good.
    static let ofFailures = [
        "capqueue show ID says why a capture failed; capqueue dest set NAME changes a wrong destination",
        "capqueue retry --failed, then capqueue run, sends what failed for good again",
    ]

    /// Why what is pushed without `--dest` is not sent, with the command that helps; nil where it is.
    static func beforeSending(_ destinations: [Destination]) -> (why: String, command: String)? {
        if destinations.isEmpty { return ("nothing is sent until there is a destination; add one with", add) }
        if destinations.allSatisfy(\.isRetired) {
            return ("nothing more is sent, since all destinations are retired; add one with", add)
        }
        if destinations.contains(where: \.isDefault) { return nil }
        return ("captures that name no destination wait until one is the default", "capqueue dest default NAME")
    }
}
