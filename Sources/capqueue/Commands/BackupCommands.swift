import ArgumentParser
import CaptureBundle
import CaptureQueue
import CommandSupport
import QueueFiles
import SystemPackage

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the queue into a folder while it is in use.",
        usage: "capqueue backup FOLDER [options]",
        discussion: """
            The folder is made, or has an earlier backup of this queue; bundles that it has are not copied again, and \
            those that the queue deleted are deleted there too. Until the new backup is complete, the folder has the \
            earlier one. list, show, get and check read a backup with --queue FOLDER; nothing is sent from it before \
            capqueue restore.
            """,
        example: ["capqueue backup /mnt/disk/queue", "capqueue check --queue /mnt/disk/queue --read-data"])

    @Argument(help: ArgumentHelp("The folder of the backup.", valueName: "folder"), completion: .directory)
    var folder: String

    @OptionGroup var format: JSONOption
    @OptionGroup var queue: QueueOptions

    func validate() throws {
        if folder.isEmpty { throw ValidationError("the name of the folder is empty") }
    }

    func run() throws {
        let result = try queue.with { try $0.upkeep.makeBackup(in: FilePath(folder)) }
        if format.json {
            try Output.json(
                .members([
                    "captures": .integer(result.captures), "copied": .integer(result.copied),
                    "copied_bytes": .integer(result.copiedBytes),
                    "missing": .array(result.missing.map { .string($0) }),
                ]))
        } else {
            let copied = "\(Quantity.count(result.copied, "bundle")) copied, \(Quantity.bytes(result.copiedBytes))"
            try Output.line("\(Quantity.count(result.captures, "capture")): \(copied)")
        }
        for id in result.missing {
            diagnostic.warning("\(id): its bytes are missing or damaged, here and in the backup")
        }
        if !result.missing.isEmpty { throw ExitStatus.inputOutput }
    }
}

struct RestoreBackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a queue of a backup.",
        discussion: """
            Copy the folder of the backup to the place of the queue first, so that the backup stays. What was cancelled \
            stays cancelled. Destinations are asked whether they have what was not delivered at the time of the backup, \
            before it is sent. What was cancelled or held after the backup waits again: pause the queue before the next \
            run, and look through it.
            """,
        example: ["cp -a --reflink=auto /mnt/disk/queue /data/queue", "capqueue restore --queue /data/queue"])

    @OptionGroup var queue: QueueOptions

    func run() throws {
        try UploadQueue.restore(queue.folder)
        diagnostic.note("\(queue.folder.path) is a queue; what was not delivered is asked for before it is sent")
    }
}
