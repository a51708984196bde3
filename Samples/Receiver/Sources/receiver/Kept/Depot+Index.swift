import CaptureBundle
import CaptureQueue
import Logging
import QueueModel

extension Depot {
    /// Adds to the index the captures that only the queue knows. There are such if the index was lost, damaged or
    /// replaced by an old copy, or if writing it failed when they came.
    func completeIndex() throws {
        let known = try index.ids()
        var missing: [CaptureRecord] = []
        try queue.captures.list {
            if !known.contains($0.id) { missing.append($0) }
            return true
        }
        guard !missing.isEmpty else { return }
        logger.warning("the index lacks \(missing.count) captures of the queue; adding them from their bundles")
        var delay = Duration.zero
        var found: [CaptureRow] = []
        var lost: [String] = []
        for (place, record) in missing.reversed().enumerated() {
            let start = ContinuousClock.now
            do {
                // Destinations that fail may delay the start for a minute.
                found.append(try row(of: record, delay < .seconds(60) ? .destinations : .queue))
            } catch {
                delay += ContinuousClock.now - start
                lost.append("\(record.id): \(Self.words(error))")
            }
            guard found.count == 100 || place == missing.count - 1 else { continue }
            try index.write(found)
            found = []
        }
        logger.warning("captures added to the index: \(missing.count - lost.count)")
        if let first = lost.first { logger.warning("captures without a page: \(lost.count); the first is \(first)") }
    }

    private static func words(_ error: any Error) -> String {
        switch error {
        case is BundleGone: "neither the queue nor a destination has its bytes"
        case is OutOfReach: "destinations failed for too long"
        default: "\(error)"
        }
    }

    private func row(of record: CaptureRecord, _ reach: Reach) throws -> CaptureRow {
        guard let device = try devices.device(key: record.device) else {
            throw Unavailable("its device is not registered")
        }
        let verifier = Verifier(trust: try device.trust(), policy: VerificationPolicy(allowsWithheld: true))
        let report = try withFile(of: record.id, reach) { path, _ in try verifier.verify(BundleSource(file: path)) }
        guard ![.altered, .malformed].contains(report.verdict), let manifest = report.manifest else {
            throw Unavailable("its stored bytes are damaged")
        }
        return CaptureRow(
            record.id, device, manifest, report, verdict: record.verdict, at: record.pushedAt.milliseconds)
    }
}
