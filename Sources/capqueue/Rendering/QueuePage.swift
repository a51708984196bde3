import CaptureBundle
import CaptureNative
import CapturePages
import CaptureQueue
import CommandSupport
import QueueFiles
import QueueModel
import Synchronization
import SystemPackage

/// Makes a page about a queue (Spec/capqueue.md section 2.6). It reads the queue without delaying a run.
struct QueuePage {
    static let usualTitle = "Capture queue"

    let queue: UploadQueue
    let title: String
    /// The maximum number of newest captures, and of captures that failed or are held.
    let limit: Int
    let pictures: BundlePictures
    /// Whether the page will be written again.
    var keepsPictures = false
    /// Whether to make no more pictures, because somebody waits for the page.
    var isHurried: @Sendable () -> Bool = { false }
    /// The pictures of the previous page, so that they are not made again for the next one.
    var known: [Int: CapturePictures] = [:]

    /// Writes the page. The file appears under its name only when it is complete.
    ///
    /// - Throws: `io.failed`, `output.exists`, `output.unusable`, the errors of `list`.
    mutating func write(to place: OutputPlace) throws {
        let status = try queue.status()
        let records = try chosen()
        let target = try OutputTarget(examining: place)
        let captures = ReportCaptures(.newestFirst)
        try add(records, to: captures)
        let page = ReportPage(title: title, maker: "capqueue \(ProductVersion.current)")
        let summary = QueueSummary(status: status, folder: queue.folder.path.string)
        try target.write(page.opening(lead: summary.lead, tiles: summary.tiles))
        try target.write(summary.sections)
        try captures.write(
            to: target, timeline: "Captures of each day, by the time of the push",
            tones: [
                (.good, "Uploaded"), (.neutral, "Waiting or cancelled"), (.doubtful, "Held, or failed so far"),
                (.bad, "Failed for good"),
            ], untimed: "", table: CaptureCard.table)
        let total = status.totals.values.reduce(0) { $0 + $1.captures }
        try target.write(page.closing(records.count < total ? [summary.leftOut(records.count, of: total)] : []))
        try target.commit()
    }

    /// The newest captures, and those that failed or are held.
    private func chosen() throws -> [CaptureRecord] {
        var found: [Int: CaptureRecord] = [:]
        var troubled = CaptureFilter()
        troubled.states = DeliveryState.failedForGood + [.held, .failed]
        for filter in [CaptureFilter(), troubled] {
            try queue.captures.list(filter, limit: limit) { record in
                found[record.sequence] = record
                return true
            }
        }
        return found.values.sorted { $0.sequence > $1.sequence }
    }

    private mutating func add(_ records: [CaptureRecord], to captures: ReportCaptures) throws {
        let waiting = Mutex(records[...])
        let (queue, known, isHurried, maker, keeps) = (queue, known, isHurried, pictures, keepsPictures)
        var used: [Int: CapturePictures] = [:]
        try OrderedWork.run(
            threads: Thread.processors, next: { waiting.withLock { $0.popFirst() } },
            work: { record -> (Int, CapturePictures, ReportEntry) in
                let own =
                    known[record.sequence].flatMap { $0.holding == record.holding ? $0 : nil }
                    ?? CapturePictures(of: record, in: queue, maker: isHurried() ? nil : maker)
                let card = CaptureCard(record: record, shown: own, path: queue.captures.path(of: record)?.string)
                return (record.sequence, own, card.entry)
            },
            deliver: { number, own, entry throws(BundleError) in
                if keeps { used[number] = own }
                try captures.add(entry)
                return true
            })
        self.known = used
    }
}

/// The pictures and the model of a capture, if the queue has its bytes and they are sound.
struct CapturePictures: Sendable {
    let holding: Holding
    let pictures: [Figure]
    /// The reason why there are no pictures; nil if there are some.
    let reason: String?
    let model: String?

    /// - Parameter maker: Makes the pictures; nil to make none.
    init(of record: CaptureRecord, in queue: UploadQueue, maker: BundlePictures?) {
        holding = record.holding
        guard let maker else {
            (pictures, model, reason) = ([], nil, nil)
            return
        }
        // The file of a reference may have been replaced, for example by a named pipe, and opening a pipe would block.
        guard let path = queue.captures.path(of: record), (try? FileStatus.of(path))?.kind == .file,
            let view = try? Verifier.soundness.view(BundleSource(file: path)),
            view.report.manifestSHA256 == record.manifestSHA256, view.isSound
        else {
            (pictures, model) = ([], nil)
            reason = record.holding.hasBytes ? "the bytes are missing, or not those that were pushed" : nil
            return
        }
        model = view.report.metadata?.deviceModel
        (pictures, reason) = maker.cardFigures(of: view)
    }
}
