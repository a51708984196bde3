import CaptureBundle
@_spi(Bench) import CaptureQueue
import SystemPackage

// Measures the library alone, without the start of a process (Tests/Bench).
//
//     capqueue-bench enqueue --queue DIR --count N     adds rows without bytes, one durable commit each
//     capqueue-bench batches --queue DIR --count N     adds the same rows, 500 in each commit, as push does
//     capqueue-bench claim   --queue DIR --count N     claims and completes deliveries, two durable commits each

struct Arguments {
    let verb: String
    let queue: String
    let count: Int

    init?(_ words: [String]) {
        guard words.count == 6, words[2] == "--queue", words[4] == "--count", let count = Int(words[5]) else {
            return nil
        }
        verb = words[1]
        queue = words[3]
        self.count = count
    }
}

func measure(_ count: Int, each: Int = 1, _ body: (Int) throws -> Void) throws {
    var times: [Double] = []
    times.reserveCapacity(count)
    let start = ContinuousClock.now
    for number in 0..<count {
        let before = ContinuousClock.now
        try body(number)
        times.append(seconds(since: before))
    }
    let total = seconds(since: start)
    times.sort()
    let p99 = times.isEmpty ? 0 : times[min(times.count - 1, times.count * 99 / 100)] * 1000
    print("{\"seconds\":\(total),\"count\":\(count * each),\"p99_ms\":\(p99)}")
}

func seconds(since start: ContinuousClock.Instant) -> Double { (ContinuousClock.now - start) / .seconds(1) }

func row(_ number: Int, _ salt: String) throws -> BareRow? {
    let hash = try Digest.of(Array("\(salt) \(number)".utf8))
    let hex = hash.description
    guard let time = CaptureTime(milliseconds: 1_700_000_000_000 + number) else { return nil }
    let groups = [hex.prefix(8), hex.dropFirst(8).prefix(4), "8" + hex.dropFirst(13).prefix(3)]
    let rest = ["8" + hex.dropFirst(17).prefix(3), hex.dropFirst(20).prefix(12)]
    return BareRow(
        bundleID: (groups + rest).joined(separator: "-"), hash: hash, byteCount: 1_600_000, capturedAt: time,
        path: "/nowhere/\(hex)")
}

func enqueue(_ queue: UploadQueue, _ count: Int, batch: Int) throws {
    let salt = "\(UInt64.random(in: .min ... .max))"
    try measure(count / batch, each: batch) { number in
        _ = try queue.enqueue(try (0..<batch).compactMap { try row(number * batch + $0, salt) })
    }
}

func claim(_ queue: UploadQueue, _ count: Int) throws {
    guard let destination = try queue.destinations().first else {
        print("{\"error\":\"the queue has no destination\"}")
        return
    }
    try measure(count) { _ in
        guard let claim = try queue.claim(for: destination) else { return }
        try queue.settle(
            claim, .completed(receipt: claim.capture.sha256.description, remoteID: nil, remoteURL: nil))
    }
}

guard let arguments = Arguments(CommandLine.arguments) else {
    print("usage: capqueue-bench enqueue|claim --queue DIR --count N")
    throw QueueError(.valueInvalid, "wrong usage")
}
let queue = try UploadQueue(at: QueueFolder(path: FilePath(arguments.queue)), createIfMissing: true)
switch arguments.verb {
case "enqueue": try enqueue(queue, arguments.count, batch: 1)
case "batches": try enqueue(queue, arguments.count, batch: min(500, max(1, arguments.count)))
case "claim": try claim(queue, arguments.count)
default: print("{\"error\":\"unknown verb\"}")
}
queue.close()
