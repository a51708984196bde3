import CaptureTestSupport
import Foundation
import QueueModel
import Testing

/// The state machine equals the table of Spec/queue.md section 5, cell by cell.
struct DeliveryStateMachineTests {
    struct Table {
        let events: [DeliveryEvent]
        let rows: [DeliveryState: [DeliveryState?]]

        init() throws {
            let page = try String(contentsOf: Places.root.appending(path: "Spec/queue.md"), encoding: .utf8)
            let begin = try #require(page.firstRange(of: "<!-- states -->"))
            let end = try #require(page.firstRange(of: "<!-- end of states -->"))
            let lines = page[begin.upperBound..<end.lowerBound].split(separator: "\n").map(Self.cells)
            let head = try #require(lines.first)
            events = try head.dropFirst().map { try #require(DeliveryEvent(rawValue: $0)) }
            var rows: [DeliveryState: [DeliveryState?]] = [:]
            for line in lines.dropFirst(2) {
                let state = try #require(DeliveryState(rawValue: line[0]))
                rows[state] = try line.dropFirst().map { try Self.cell($0) }
            }
            self.rows = rows
        }

        /// Reads one cell: nil for an empty one, and an error for a word that is not a state.
        private static func cell(_ word: String) throws -> DeliveryState? {
            if word.isEmpty { return nil }
            let state = try #require(DeliveryState(rawValue: word))
            return state
        }

        private static func cells(_ line: Substring) -> [String] {
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
            }
        }
    }

    @Test func followsTheTableInEveryPair() throws {
        let table = try Table()
        #expect(Set(table.events) == Set(DeliveryEvent.allCases))
        #expect(Set(table.rows.keys) == Set(DeliveryState.allCases))
        for state in DeliveryState.allCases {
            let row = try #require(table.rows[state])
            #expect(row.count == table.events.count)
            for (event, expected) in zip(table.events, row) {
                #expect(DeliveryStateMachine.next(state, event) == expected, "\(state.rawValue) and \(event.rawValue)")
            }
        }
    }

    /// No retry sends a capture again after it was uploaded.
    @Test func neverLeavesCompletedByTheUsersHand() {
        for event in [DeliveryEvent.retry, .release, .hold, .cancel, .record, .push] {
            let next = DeliveryStateMachine.next(.completed, event)
            #expect(next == nil || next == .completed, "\(event.rawValue)")
        }
    }

    @Test func showsTheMostConcerningStateOfACapture() {
        #expect(DeliveryState.overall([.completed, .pending]) == .pending)
        #expect(DeliveryState.overall([.completed, .cancelled]) == .completed)
        #expect(DeliveryState.overall([.cancelled]) == .cancelled)
        #expect(DeliveryState.overall([.completed, .quarantined, .held]) == .quarantined)
        #expect(Set(DeliveryState.byConcern) == Set(DeliveryState.allCases))
    }
}
