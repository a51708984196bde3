import CaptureBundle
import Synchronization
import SystemPackage

/// The queue that the user named with `--queue`, for the commands that hints propose: without it, a command that is copied
/// from a hint would work on another queue.
enum CommandWords {
    private static let queue = Mutex<FilePath?>(nil)

    static func nameQueue(_ path: String?) { queue.withLock { $0 = path.map { FilePath($0) } } }

    fileprivate static var option: String {
        queue.withLock { $0 }.map { " --queue \(ShellWord.quote($0))" } ?? ""
    }
}

/// A command of capqueue, such as `dest set`, for the queue of this process. Its arguments follow.
func capqueue(_ command: String) -> String { "capqueue \(command)\(CommandWords.option)" }
