import CaptureQueue

/// Hints that name the next command.
enum NextSteps {
    private static let add = "capqueue dest add NAME --kind KIND ..."

    /// Hints for a blocked destination; none if the user can only wait.
    static func of(_ block: Block, _ name: String) -> [String] {
        let set = "capqueue dest set \(name)"
        let run = "then send the waiting captures with: capqueue run"
        switch block.reason {
        case .tls where block.message.contains("begins with http://"), .endpoint:
            return ["change the URL with: \(set) --url URL", run]
        case .refusing: return ["change its URL or other settings with: \(set) --url URL", run]
        case .credentials:
            return ["change the refused credentials with: \(set) --token-file FILE (or --key, --device-id)", run]
        case .tls: return ["trust the authority that signed the server's certificate with: \(set) --ca FILE", run]
        case .local, .unproven, .address: return ["print its settings with: capqueue dest show \(name)"]
        case .wait, .full, .offline, .failing: return []
        }
    }

    /// Hints after `dest test`. Unlike a run, a test of an unreachable server suggests to check the URL.
    static func ofTest(_ block: Block, _ name: String) -> [String] {
        guard block.reason == .offline else { return of(block, name) }
        return ["if the server is up, correct its host, port or http:// with: capqueue dest set \(name) --url URL"]
    }

    /// Hints after a run if captures have failed for good.
    static let ofFailures = [
        "see why with: capqueue show ID; correct a destination with: capqueue dest set NAME",
        "then send them again with: capqueue retry --failed; capqueue run",
    ]

    /// Why captures pushed without `--dest` will not be sent, and the command that changes it; nil if they will be sent.
    static func beforeSending(_ destinations: [Destination]) -> (why: String, command: String)? {
        if destinations.isEmpty { return ("nothing is sent until there is a destination; add one with", add) }
        if destinations.allSatisfy(\.isRetired) {
            return ("nothing more is sent, since all destinations are retired; add one with", add)
        }
        if destinations.contains(where: \.isDefault) { return nil }
        return (
            "captures pushed without --dest wait until a destination is the default; choose it with",
            "capqueue dest default NAME"
        )
    }
}
