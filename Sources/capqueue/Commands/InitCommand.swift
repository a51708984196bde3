import ArgumentParser
import CaptureQueue
import CommandSupport
import QueueFiles

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a queue.",
        discussion: """
            In a folder that --queue or CAPQUEUE_DIR names, only init, dest add and config make a queue. So a push cannot \
            fill an empty folder while the disk of the queue is not mounted. The queue in the default place is made by \
            the first push.
            """,
        example: ["capqueue init --queue /data/queue"])

    @OptionGroup var queue: QueueOptions

    func run() throws {
        let isThere = queue.folder.exists
        try queue.with(createIfMissing: true) { _ in }
        diagnostic.note(isThere ? "there is a queue in \(queue.folder.path)" : "made a queue in \(queue.folder.path)")
    }
}
