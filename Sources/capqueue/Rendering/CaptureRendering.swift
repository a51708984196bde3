import CaptureBundle
import CaptureQueue
import CommandSupport
import QueueModel

extension CaptureRecord {
    /// The JSON object of Spec/capqueue.md section 3.
    func json(path: String?) -> JSONValue {
        .members([
            "id": .string(id), "bundle_id": .string(bundleID), "state": .string(state.rawValue),
            "sha256": .text(sha256), "manifest_sha256": .text(manifestSHA256), "bytes": .integer(byteCount),
            "captured_at": .text(capturedAt), "device": .text(device), "verdict": .string(verdict),
            "pushed_at": .text(pushedAt), "session": .text(session), "priority": .integer(priority),
            "not_before": .text(notBefore), "holding": .string(holding.rawValue), "path": .text(path),
            "finished_at": .text(finishedAt), "removed_at": .text(removedAt),
            "deliveries": .array(deliveries.map(\.json)),
        ])
    }

    /// The lines that `show` prints for people.
    func page(path: String?) -> [String] {
        var table = TextTable()
        table.add("state", state.rawValue)
        table.add("bytes", Quantity.bytes(byteCount))
        table.add("sha256", sha256.description)
        table.add("stored", holdingText(path))
        table.add("captured", capturedAt.description)
        table.add("device", device.description)
        table.add("verdict", "\(verdict) when it was pushed")
        table.add("pushed", pushedAt.description)
        if let session { table.add("session", session) }
        if priority != 0 { table.add("priority", String(priority)) }
        if let notBefore { table.add("not before", notBefore.description) }
        if let finishedAt { table.add("finished", finishedAt.description) }
        return [id] + table.lines + deliveries.flatMap(\.lines)
    }

    /// The place of the bytes in words.
    func holdingText(_ path: String?) -> String {
        switch holding {
        case .spool: "in \(Visible.text(path ?? "the spool"))"
        case .reference: "no; referenced at \(Visible.text(path ?? ""))"
        case .removing: "being deleted"
        case .removed: "deleted\(removedAt.map { " on \($0.description)" } ?? "")"
        case .quarantined: "damaged, set aside in the quarantine folder"
        case .missing:
            (reference.map { "\(Visible.text($0)) is missing or was changed" } ?? "missing") + "; push the bundle again"
        }
    }
}

extension DeliveryRecord {
    var json: JSONValue {
        .members([
            "destination": .text(destination), "state": .string(state.rawValue), "attempts": .integer(attempts),
            "due_at": isWaiting ? .text(dueAt) : nil, "completed_at": .text(completedAt), "receipt": .text(receipt),
            "remote_id": .text(remoteID), "remote_url": .text(remoteURL),
            "error": .error(errorCode, errorMessage),
        ])
    }

    /// Whether another attempt will be made.
    var isWaiting: Bool { state == .pending || state == .failed }

    fileprivate var lines: [String] {
        var table = TextTable()
        table.add("state", state.rawValue)
        table.add("attempts", String(attempts))
        if isWaiting { table.add("due", dueAt.description) }
        if let completedAt { table.add("completed", completedAt.description) }
        if let receipt { table.add("receipt", Visible.text(Self.firstLine(receipt))) }
        if let errorMessage { table.add("error", Visible.text("\(errorMessage) [\(errorCode ?? "")]")) }
        let unnamed = receipt == nil ? "to the first destination that is added" : "uploaded by other means"
        return [destination.map { "to \($0)" } ?? unnamed] + table.lines
    }

    private static func firstLine(_ text: String) -> String {
        let line = text.pieces(by: "\n", limit: 2).first ?? ""
        return line.width > 500 ? line.cut(toWidth: 500) + "…" : line
    }
}

extension HistoryEvent {
    var json: JSONValue {
        switch kind {
        case .transition(let from, let to, let event, let cause):
            .members([
                "at": .text(at), "destination": .text(destination), "event": .string(event),
                "from": .text(from?.rawValue), "to": .string(to.rawValue), "cause": .text(cause),
            ])
        case .attempt(let number, let endedAt, let outcome, let code, let message, let bytesSent):
            .members([
                "at": .text(at), "destination": .text(destination), "attempt": .integer(number),
                "started_at": .text(at), "ended_at": .text(endedAt), "outcome": .text(outcome),
                "bytes_sent": .count(bytesSent), "error": .error(code, message),
            ])
        }
    }

    var line: String {
        let to = destination.map { " (\($0))" } ?? ""
        switch kind {
        case .transition(let from, let state, let event, let cause):
            let change = from.map { "\($0.rawValue) → \(state.rawValue)" } ?? state.rawValue
            let words = Visible.text("\(event): \(change)\(to)\(cause.map { ", \($0)" } ?? "")")
            return "\(at.description)  \(words)"
        case .attempt(let number, _, let outcome, let code, let message, _):
            let failure = [code.map { "[\($0)]" }, message].compactMap(\.self).joined(separator: " ")
            let words = Visible.text("attempt \(number)\(to): \(outcome ?? "under way") \(failure)")
            return "\(at.description)  \(words.rest(before: " ") ?? words)"
        }
    }
}

extension JSONValue {
    /// The error of an attempt; nil for none.
    fileprivate static func error(_ code: String?, _ message: String?) -> JSONValue? {
        code.map { .members(["code": .string($0), "message": .text(message)]) }
    }
}
