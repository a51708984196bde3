public import CaptureBundle
import CaptureNative
import GRDB
package import QueueModel
public import QueueTransports
import SystemPackage

/// Asks destinations what they still have (Spec/capqueue.md, `get`, `check --remote`, `dest test`).
extension UploadQueue {
    /// Tests a destination, without changing anything there.
    ///
    /// - Throws: `destination.unknown`.
    public func testDestination(_ name: String) throws -> DestinationTest {
        let destination = try destination(name)
        let transport = TransportShares(signers).make(destination) { _ in }
        return transport.test(SendControl())
    }

    /// Fetches the bundle of a released capture from a destination and writes it. The output appears only after its
    /// bytes were compared with their hash.
    ///
    /// - Returns: the name of the destination that returned it.
    /// - Throws: `bytes.absent` if no destination returns it; `output.…`, `io.failed`.
    public func getRemote(_ record: CaptureRecord, to place: OutputPlace) throws -> String {
        var troubles: [String] = []
        let control = SendControl()
        for delivery in record.deliveries where delivery.state == .completed {
            guard let name = delivery.destination else { continue }
            if let part = delivery.part {
                troubles.append("\(name): only the \(part) was uploaded there")
                continue
            }
            let sent = record.delivered(by: delivery)
            let transport = try TransportShares(signers).make(destination(name)) { _ in }
            let copy = try onFile(SpoolFile.folder) { () throws(NativeError) in try SpoolFile.open() }
            let job = SendJob(sent, delivery, token: [], now: try store.read { try clock.read($0).stamp }, self)
            if let trouble = transport.fetch(job, into: copy, control) {
                troubles.append("\(name): \(trouble)")
                continue
            }
            let isWhole = try onFile(SpoolFile.folder) { () throws(NativeError) in
                try copy.seekToStart()
                return try FileDigest.sha256(copy) == sent.sha256
            }
            guard isWhole else {
                troubles.append("\(name): the bytes that it returned differ from those that were sent")
                continue
            }
            // The copy has no name any more; this path leads to the open file.
            try FileCopy.copy(FilePath("/proc/self/fd/\(copy.descriptor)"), to: place, sha256: sent.sha256)
            withExtendedLifetime(copy) {}
            return name
        }
        throw QueueError(
            .bytesAbsent,
            troubles.isEmpty
                ? "its bytes are \(record.holdingWords), and no destination has them"
                : "its bytes are \(record.holdingWords) here, and no destination returns them: "
                    + troubles.joined(separator: "; "), of: record.id)
    }

    /// Asks the destinations for all completed captures whose bytes are still here. What they have lost is sent again.
    ///
    /// - Parameter isDryRun: whether losses are only reported.
    /// - Returns: the number of deliveries that were asked for.
    public func checkRemote(isDryRun: Bool, deliver: (CheckFinding) throws -> Void) throws -> Int {
        let shares = TransportShares(signers)
        var transports: [String: any UploadTransport] = [:]
        var count = 0
        var after = 0
        while true {
            let records = try store.read {
                try CaptureRecord.all($0, "WHERE seq > ? ORDER BY seq LIMIT ?", [after, UploadQueue.page])
            }
            guard let last = records.last else { return count }
            after = last.sequence
            for record in records where record.holding.hasBytes {
                for delivery in record.deliveries where delivery.state == .completed {
                    guard let name = delivery.destination else { continue }
                    let transport = try transports[name] ?? shares.make(destination(name)) { _ in }
                    transports[name] = transport
                    count += 1
                    let job = SendJob(
                        record.delivered(by: delivery), delivery, token: [], now: 0, held: record.sha256, self)
                    try settle(transport.confirm(job, SendControl()), record, delivery, name, isDryRun, deliver)
                }
            }
        }
    }

    private func settle(
        _ state: RemoteState, _ record: CaptureRecord, _ delivery: DeliveryRecord, _ name: String, _ isDryRun: Bool,
        _ deliver: (CheckFinding) throws -> Void
    ) throws {
        switch state {
        case .there: return
        case .unknown(let text):
            try deliver(
                CheckFinding(
                    kind: .unconfirmed, id: record.id, path: name,
                    message: "cannot tell whether the upload is there: \(text)",
                    isRepaired: false))
        case .lost(let text):
            let isSentAgain = try !isDryRun && lose(delivery, because: text)
            try deliver(
                CheckFinding(
                    kind: .lost, id: record.id, path: name,
                    message: text + (isSentAgain ? "; it is sent again" : ""), isRepaired: isSentAgain))
        }
    }

    private func lose(_ delivery: DeliveryRecord, because text: String) throws -> Bool {
        try store.write { db in
            guard
                let row = try db.row(
                    "SELECT \(DeliveryRecord.columns) FROM deliveries WHERE id = ?", [delivery.number])
            else { return false }
            let now = try clock.look(db)
            // With the old key, a server could answer again that it has the capture.
            return try db.apply(
                .lose, to: try DeliveryRecord(row: row), at: now.stamp,
                .init(cause: text, due: now.wall, attempts: 0, isInDoubt: false, idempotencyKey: .forgotten))
        }
    }
}
