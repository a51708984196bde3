// push-to-queue QUEUE BUNDLE
// Pushes BUNDLE into the queue in the folder QUEUE, which is created if it is missing.
// Prints the capture's id, whether it is new to the queue, and how many captures wait. Once the id is printed, the
// bundle survives a crash.

import CaptureQueue
import Foundation
import QueueFiles
import SystemPackage

let words = CommandLine.arguments
guard words.count == 3 else {
    print("usage: push-to-queue QUEUE BUNDLE")
    exit(64)
}

do {
    let queue = try UploadQueue(at: QueueFolder(path: FilePath(words[1])), createIfMissing: true)
    let pushed = try queue.push(FilePath(words[2]))
    print(pushed.id, pushed.outcome.rawValue)
    print("waiting:", try queue.status().waiting)
} catch {
    print("push-to-queue: \(error)")
    exit(1)
}
