import ArgumentParser
import CaptureQueue
import CommandSupport

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Send what is due, and end.",
        discussion: """
            Prints an id and the state that it is in now, one a line. Exit codes: 0 nothing waits any more, 15 something \
            does (a retry, a disk that is not mounted), 14 something failed for good, 10 another run owns the queue.

            Example:
              capqueue dest add nas --kind folder --path /mnt/nas/captures
              capqueue run
            """)

    @OptionGroup var queue: QueueOptions

    func run() throws {
        let (result, status) = try queue.with(changes: true) { queue in
            if try queue.destinations().isEmpty {
                diagnostic.note(
                    "there is no destination; add one with: capqueue dest add NAME --kind folder --path DIR")
            }
            let known = try queue.destinations()
            if !known.isEmpty && !known.contains(where: \.isDefault) {
                diagnostic.note(
                    "no destination is the default, so captures that name none wait: capqueue dest default NAME")
            }
            let result = try queue.runOnce { record, state, outcome in
                try Output.line("\(record.id) \(state.rawValue)")
                if let text = outcome.trouble { diagnostic.warning("\(record.id): \(text)") }
            }
            return (result, try queue.status())
        }
        for text in result.offline { diagnostic.note(text) }
        if status.failedForGood > 0 { throw ExitStatus.failedForGood }
        if status.waiting > 0 { throw ExitStatus.workLeft }
    }
}

extension SendOutcome {
    fileprivate var trouble: String? {
        switch self {
        case .completed, .accepted: nil
        case .failed(_, let message), .rejected(_, let message), .conflict(let message), .damaged(let message): message
        case .parked(let cause): cause
        }
    }
}
