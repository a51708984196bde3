import CaptureBundle
import CaptureQueue
import CommandSupport
import QueueModel

extension CaptureRecord {
    /// The JSON object of Spec/capqueue.md section 3.
    func json(path: String?) -> JSONValue {
        .members([
            "id": .string(id), "bundle_id": .string(bundleID), "state": .string(state.rawValue),
            "sha256": .string(sha256.description), "manifest_sha256": .string(manifestSHA256.description),
            "bytes": .integer(byteCount), "captured_at": .string(capturedAt.description),
            "device": .string(device.description), "verdict": .string(verdict),
            "pushed_at": .string(Moment.text(pushedAt)),
            "session": session.map { .string($0) }, "priority": .integer(priority),
            "not_before": notBefore.map { .string(Moment.text($0)) }, "holding": .string(holding.rawValue),
            "path": path.map { .string($0) }, "finished_at": finishedAt.map { .string(Moment.text($0)) },
            "removed_at": removedAt.map { .string(Moment.text($0)) },
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
        table.add("pushed", Moment.text(pushedAt))
        if let session { table.add("session", session) }
        if priority != 0 { table.add("priority", String(priority)) }
        if let notBefore { table.add("not before", Moment.text(notBefore)) }
        if let finishedAt { table.add("finished", Moment.text(finishedAt)) }
        return [id] + table.lines + deliveries.flatMap(\.lines)
    }

    /// The place of the bytes in words.
    func holdingText(_ path: String?) -> String {
        switch holding {
        case .spool: "in \(Visible.text(path ?? "the spool"))"
        case .reference: "no; referenced at \(Visible.text(path ?? ""))"
        case .removing: "being deleted"
        case .removed: "deleted\(removedAt.map { " on \(Moment.text($0))" } ?? "")"
        case .quarantined: "damaged, set aside in the quarantine folder"
        case .missing:
            (reference.map { "\(Visible.text($0)) is missing or was changed" } ?? "missing") + "; push the bundle again"
        }
    }
}

extension DeliveryRecord {
    var json: JSONValue {
        .members([
            "destination": destination.map { .string($0) }, "state": .string(state.rawValue),
            "attempts": .integer(attempts), "due_at": isWaiting ? .string(Moment.text(dueAt)) : nil,
            "completed_at": completedAt.map { .string(Moment.text($0)) }, "receipt": receipt.map { .string($0) },
            "remote_id": remoteID.map { .string($0) }, "remote_url": remoteURL.map { .string($0) },
            "error": errorCode.map { code in
                .members(["code": .string(code), "message": errorMessage.map { .string($0) }])
            },
        ])
    }

    /// Whether another attempt will be made.
    var isWaiting: Bool { state == .pending || state == .failed }

    fileprivate var lines: [String] {
        var table = TextTable()
        table.add("state", state.rawValue)
        table.add("attempts", String(attempts))
        if isWaiting { table.add("due", Moment.text(dueAt)) }
        if let completedAt { table.add("completed", Moment.text(completedAt)) }
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
        let base: [(String, JSONValue?)] = [
            ("at", .string(Moment.text(at))), ("destination", destination.map { .string($0) }),
        ]
        let own: [(String, JSONValue?)]
        switch kind {
        case .transition(let from, let to, let event, let cause):
            own = [
                ("event", .string(event)), ("from", from.map { .string($0.rawValue) }), ("to", .string(to.rawValue)),
                ("cause", cause.map { .string($0) }),
            ]
        case .attempt(let number, let endedAt, let outcome, let code, let message, let bytesSent):
            let error = code.map { JSONValue.members(["code": .string($0), "message": message.map { .string($0) }]) }
            own = [
                ("attempt", .integer(number)), ("started_at", .string(Moment.text(at))),
                ("ended_at", endedAt.map { .string(Moment.text($0)) }), ("outcome", outcome.map { .string($0) }),
                ("bytes_sent", bytesSent.map { .integer($0) }), ("error", error),
            ]
        }
        return .object((base + own).compactMap { name, value in value.map { .init(name, $0) } })
    }

    var line: String {
        let to = destination.map { " (\($0))" } ?? ""
        switch kind {
        case .transition(let from, let state, let event, let cause):
            let change = from.map { "\($0.rawValue) → \(state.rawValue)" } ?? state.rawValue
            let words = Visible.text("\(event): \(change)\(to)\(cause.map { ", \($0)" } ?? "")")
            return "\(Moment.text(at))  \(words)"
        case .attempt(let number, _, let outcome, let code, let message, _):
            let failure = [code.map { "[\($0)]" }, message].compactMap(\.self).joined(separator: " ")
            let words = Visible.text("attempt \(number)\(to): \(outcome ?? "under way") \(failure)")
            return "\(Moment.text(at))  \(words.rest(before: " ") ?? words)"
        }
    }
}
