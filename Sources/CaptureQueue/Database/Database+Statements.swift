import CaptureBundle
import GRDB
import QueueModel

/// Runs statements that are prepared once for each connection, because preparing one takes longer than running it.
extension Database {
    func run(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func row(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    func rows(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> [Row] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Converts each row while it is read. A row of `rows` is a copy, which compares all names to find a column, so that
    /// many rows with many columns take several times as long.
    func mapped<Value>(_ sql: String, _ arguments: StatementArguments, _ body: (Row) throws -> Value) throws -> [Value]
    {
        let cursor = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        var values: [Value] = []
        while let row = try cursor.next() { values.append(try body(row)) }
        return values
    }

    /// Reads how many `captures` are in each `state`.
    func counts(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> [DeliveryState: Int] {
        try rows(sql, arguments).reduce(into: [:]) { $0[try $1.state("state")] = try $1.needInteger("captures") }
    }

    func integer(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Int? {
        try Int.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    func text(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> String? {
        try String.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }
}

/// Reads columns. A value that no version of this tool writes is an error, not a trap.
extension Row {
    func integer(_ column: String) throws -> Int? {
        switch (self[column] as DatabaseValue).storage {
        // Larger numbers cannot be times or sizes, and sums with them would overflow.
        case .int64(let value) where value.magnitude < 1 << 56: Int(value)
        case .null: nil
        default: throw QueueError.corruptRecord("\(column) is not a number")
        }
    }

    func needInteger(_ column: String) throws -> Int { try need(integer(column), column) }

    private func need<Value>(_ value: Value?, _ column: String) throws -> Value {
        guard let value else { throw QueueError.corruptRecord("\(column) has no value") }
        return value
    }

    /// The nearest moment that the calendar has: a time that only an editor can have written stops no command.
    func time(_ column: String) throws -> CaptureTime? { try integer(column).map { CaptureTime(clamping: $0) } }

    func needTime(_ column: String) throws -> CaptureTime { try need(time(column), column) }

    func text(_ column: String) throws -> String? {
        switch (self[column] as DatabaseValue).storage {
        case .string(let value): value
        case .null: nil
        default: throw QueueError.corruptRecord("\(column) is not text")
        }
    }

    func needText(_ column: String) throws -> String { try need(text(column), column) }

    func digest(_ column: String) throws -> Digest {
        guard case .blob(let data) = (self[column] as DatabaseValue).storage, data.count == 32 else {
            throw QueueError.corruptRecord("\(column) is not a hash")
        }
        return Digest(bytes: Array(data))
    }

    func state(_ column: String) throws -> DeliveryState {
        let text = try needText(column)
        guard let state = DeliveryState(rawValue: text) else { throw QueueError.corruptRecord("unknown state \(text)") }
        return state
    }
}
