import CaptureBundle
import GRDB
import QueueFiles
import QueueModel
import QueueTransports
import SystemPackage

@testable import CaptureQueue

// Times changes of the database with the library alone: without the start of a process for each (Tests/Bench).
//
//     capqueue-bench rows QUEUE COUNT      adds captures without bytes, one durable commit each
//     capqueue-bench claims QUEUE COUNT    claims and completes deliveries, two durable commits each

func addRow(_ number: Int, _ queue: UploadQueue) throws {
    let hash = try Digest.of(Array("\(number)".utf8))
    guard let time = CaptureTime(milliseconds: 1_700_000_000_000 + number) else { return }
    let facts = CaptureFacts(
        bundleID: String(decoding: hash.description.utf8.prefix(36), as: UTF8.self), identity: hash, sha256: hash,
        manifestSHA256: hash, byteCount: 1_600_000, capturedAt: time, device: hash, verdict: .verified, photo: hash)
    try queue.store.write { db in
        let reading = try queue.clock.observe(db)
        let row = CaptureRow(
            id: try db.freeID(facts.bundleID), facts: facts, pushedAt: reading.recordTime, session: nil, priority: 0,
            holding: .reference, reference: "/nowhere/\(hash)")
        try db.insertCapture(row, destinations: [], start: DeliveryStart(reading), at: reading.recordTime)
    }
}

func complete(_ queue: UploadQueue, at destination: Destination) throws {
    guard let claim = try Claims(queue).next(for: destination) else { return }
    let outcome = SendOutcome.completed(receipt: claim.capture.sha256.description, remoteID: nil, remoteURL: nil)
    _ = try queue.store.write { try Claims(queue).settle(claim, with: outcome, AttemptContext(), in: $0) }
}

let words = CommandLine.arguments
guard words.count == 4, let count = Int(words[3]), count > 0 else {
    print("usage: capqueue-bench rows|claims QUEUE COUNT")
    throw QueueError(.valueInvalid, "wrong usage")
}
let queue = try UploadQueue(at: QueueFolder(path: FilePath(words[2])), createIfMissing: words[1] == "rows")
let destination = try queue.destinations.list().first
let start = ContinuousClock.now
for number in 0..<count {
    if words[1] == "rows" {
        try addRow(number, queue)
    } else if let destination {
        try complete(queue, at: destination)
    }
}
print("{\"seconds\":\((ContinuousClock.now - start) / .seconds(1)),\"count\":\(count)}")
queue.close()
