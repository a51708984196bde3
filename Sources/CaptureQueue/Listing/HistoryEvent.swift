import GRDB
public import QueueModel

/// A change of state, or an attempt to send.
public struct HistoryEvent: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case transition(from: DeliveryState?, to: DeliveryState, event: String, cause: String?)
        case attempt(number: Int, endedAt: Int?, outcome: String?, code: String?, message: String?, bytesSent: Int?)
    }

    /// When it happened, in Unix milliseconds.
    public let at: Int
    public let destination: String?
    public let kind: Kind

    init(transition row: Row, _ destination: String?) throws {
        at = try row.needInteger("at")
        self.destination = destination
        kind = .transition(
            from: try row.text("from_state").flatMap(DeliveryState.init(rawValue:)), to: try row.state("to_state"),
            event: try row.needText("event"), cause: try row.text("cause"))
    }

    init(attempt row: Row, _ destination: String?) throws {
        at = try row.needInteger("started_at")
        self.destination = destination
        kind = .attempt(
            number: try row.needInteger("number"), endedAt: try row.integer("ended_at"),
            outcome: try row.text("outcome"), code: try row.text("code"), message: try row.text("message"),
            bytesSent: try row.integer("bytes_sent"))
    }
}
