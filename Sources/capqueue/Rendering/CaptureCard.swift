import CaptureBundle
import CapturePages
import CommandSupport
import QueueModel

/// Makes the card and the row of a capture in a queue.
struct CaptureCard {
    let record: CaptureRecord
    let shown: CapturePictures
    /// The path of the stored bundle; nil if the queue has no file for it.
    let path: String?

    var entry: ReportEntry {
        ReportEntry(time: record.pushedAt, kind: ReportKind(record.state.tone), card: card, row: row)
    }

    private var card: ReportCard {
        let state = record.state
        var card = ReportCard(
            state.tone, state.rawValue,
            title: "\(PageTime.clock(record.pushedAt)), <span class=\"mono\">\(record.id)</span>")
        card.pictures = shown.pictures
        card.findings = record.deliveries.compactMap(Self.finding)
        for delivery in record.deliveries { card.facts.add("To", Self.words(delivery)) }
        card.facts.add("Captured", PageTime.short(record.capturedAt))
        if let model = shown.model { card.facts.add("Model", "\(foreign: model)") }
        card.facts.add("Size", "\(Rounded.size(record.byteCount))")
        card.facts.add("Stored", record.holding == .spool ? "in the queue" : "\(record.holdingText(path))")
        if let session = record.session { card.facts.add("Session", "\(foreign: session)") }
        if let notBefore = record.notBefore { card.facts.add("Not before", PageTime.short(notBefore)) }
        card.facts.add("Verdict", "\(record.verdict) when it was pushed")
        card.facts.add("Key id", "<span class=\"mono\">\(record.device.description)</span>")
        if let reason = shown.reason { card.note = "No pictures: \(reason)" }
        return card
    }

    /// Why a delivery failed.
    private static func finding(_ delivery: DeliveryRecord) -> HTML? {
        guard delivery.state != .completed, let message = delivery.errorMessage else { return nil }
        let place: HTML? = delivery.destination.map { "\(foreign: $0): " }
        return "\(place)\(message) [\(delivery.errorCode ?? "")]"
    }

    private static func words(_ delivery: DeliveryRecord) -> HTML {
        let name: HTML =
            delivery.destination.map { "\(foreign: $0)" }
            ?? (delivery.receipt == nil ? "the first destination that is added" : "uploaded by other means")
        let attempts: HTML? =
            delivery.attempts == 0 ? nil : ", \(Quantity.count(delivery.attempts, "attempt"))"
        let due: HTML? = delivery.isWaiting ? ", due \(PageTime.short(delivery.dueAt))" : nil
        let done: HTML? = delivery.completedAt.map { ", \(PageTime.short($0))" }
        let link: HTML? = delivery.remoteURL.map { "<br>\(WebLink.html($0))" }
        let remote: HTML? = delivery.remoteID.map { "<br>as \(foreign: $0)" }
        return "\(name): \(delivery.state.rawValue)\(attempts)\(due)\(done)\(remote)\(link)"
    }

    static let table = PageTable(
        "The captures of this page",
        [
            .init("Pushed (UTC)"), .init("State"), .init("Destinations"), .init("Captured (UTC)"),
            .init("Size", isNumber: true), .init("Session"), .init("Id"), .init("Why"),
        ])

    private var row: HTML {
        let places = record.deliveries.map { $0.destination ?? "none" }.joined(separator: ", ")
        let failures = record.deliveries.compactMap(Self.finding)
        let why: HTML? = failures.first.map { first in "\(first)\(failures.dropFirst().map { "<br>\($0)" as HTML })" }
        return Self.table.linked([
            PageTime.short(record.pushedAt), "\(record.state.rawValue)", "\(foreign: places)",
            PageTime.short(record.capturedAt), "\(Rounded.size(record.byteCount))",
            record.session.map { "\(foreign: $0)" } ?? "—", "<span class=\"mono\">\(record.id)</span>", why ?? "—",
        ])
    }
}
