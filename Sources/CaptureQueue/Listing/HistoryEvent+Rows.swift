import GRDB
import QueueModel

extension HistoryEvent {
    init(transition row: Row, _ destination: String?) throws {
        self.init(
            at: try row.needTime("at"), destination,
            .transition(
                from: try row.text("from_state").flatMap(DeliveryState.init(rawValue:)), to: try row.state("to_state"),
                event: try row.needText("event"), cause: try row.text("cause")))
    }

    init(attempt row: Row, _ destination: String?) throws {
        self.init(
            at: try row.needTime("started_at"), destination,
            .attempt(
                number: try row.needInteger("number"), endedAt: try row.time("ended_at"),
                outcome: try row.text("outcome"), code: try row.text("code"), message: try row.text("message"),
                bytesSent: try row.integer("bytes_sent")))
    }
}
