import CaptureTestSupport
import GRDB
import Testing

@testable import CaptureQueue

/// `deliveries.is_behind`, which triggers keep.
struct SessionOrderTests {
    private static let open = "('pending', 'failed', 'uploading')"
    /// The rows whose value differs from what it means.
    private static let wrong = """
        SELECT count(*) FROM deliveries AS this WHERE session IS NOT NULL AND destination IS NOT NULL AND state IN \(open)
            AND is_behind <> EXISTS (SELECT 1 FROM deliveries AS earlier
                WHERE earlier.destination = this.destination AND earlier.session = this.session
                AND (coalesce(earlier.order_after, earlier.capture - 1), earlier.order_position, earlier.capture)
                    < (coalesce(this.order_after, this.capture - 1), this.order_position, this.capture)
                AND earlier.state IN \(open))
        """

    @Test(arguments: 1...20)
    func onlyTheFirstOpenMemberIsNotBehind(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let database = try DatabaseQueue(configuration: configuration)
        try database.write { db in
            try Tables.make(db)
            try Migration11.apply(db)
        }
        let states = ["pending", "failed", "uploading", "processing", "held", "completed", "cancelled"]
        for step in 1...150 {
            try database.write { db in
                let destination = [1, 2, nil].randomElement(using: &random) ?? nil
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    let session = [7, 8, nil].randomElement(using: &random) ?? nil
                    try db.execute(
                        sql: """
                            INSERT OR IGNORE INTO deliveries (capture, destination, session, state, priority, due, elapsed_from,
                                order_after, order_position) VALUES (?, ?, ?, ?, 0, 0, 0, ?, ?)
                            """,
                        arguments: [
                            Int.random(in: 1...30, using: &random), destination, session,
                            states.randomElement(using: &random),
                            [nil, Int.random(in: 0...30, using: &random)].randomElement(using: &random) ?? nil,
                            Int.random(in: 0...3, using: &random),
                        ])
                case 1:
                    try db.execute(
                        sql: "UPDATE OR IGNORE deliveries SET destination = ? WHERE id = ?",
                        arguments: [destination, Int.random(in: 1...step, using: &random)])
                default:
                    try db.execute(
                        sql: "UPDATE deliveries SET state = ? WHERE id = ?",
                        arguments: [
                            states.randomElement(using: &random), Int.random(in: 1...step, using: &random),
                        ])
                }
            }
            #expect(try database.read { try Int.fetchOne($0, sql: Self.wrong) } == 0, "after step \(step)")
        }
    }
}
