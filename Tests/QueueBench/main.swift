import CaptureBundle
import CaptureQueue
import QueueModel
import SystemPackage

// Claims and completes deliveries, two durable commits each, with the library alone: without the start of a process
// for each (Tests/Bench).
//
//     capqueue-bench QUEUE COUNT

func seconds(since start: ContinuousClock.Instant) -> Double { (ContinuousClock.now - start) / .seconds(1) }

let words = CommandLine.arguments
guard words.count == 3, let count = Int(words[2]), count > 0 else {
    print("usage: capqueue-bench QUEUE COUNT")
    throw QueueError(.valueInvalid, "wrong usage")
}
let queue = try UploadQueue(at: QueueFolder(path: FilePath(words[1])))
guard let destination = try queue.destinations.list().first else {
    throw QueueError(.valueInvalid, "the queue has no destination")
}
var times: [Double] = []
let start = ContinuousClock.now
for _ in 0..<count {
    let before = ContinuousClock.now
    if let claim = try Claims(queue).next(for: destination) {
        _ = try Claims(queue).settle(
            claim, .completed(receipt: claim.capture.sha256.description, remoteID: nil, remoteURL: nil))
    }
    times.append(seconds(since: before))
}
let total = seconds(since: start)
times.sort()
print("{\"seconds\":\(total),\"count\":\(count),\"p99_ms\":\(times[count * 99 / 100] * 1000)}")
queue.close()
