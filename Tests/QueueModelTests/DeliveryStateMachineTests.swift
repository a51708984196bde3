import QueueModel
import Testing

/// The state machine equals the table of Spec/queue.md section 5, cell by cell.
struct DeliveryStateMachineTests {
    @Test func followsTheTableInEveryPair() throws {
        let table = try SpecTables("queue.md").lines("states")
        let events = try table.head.dropFirst().map { word in
            try #require(DeliveryEvent(rawValue: word.replacing("`", with: "")))
        }
        #expect(Set(events) == Set(DeliveryEvent.allCases))
        #expect(table.lines.count == DeliveryState.allCases.count)
        for line in table.lines {
            let words = line.map { $0.replacing("`", with: "") }
            let state = try #require(DeliveryState(rawValue: words[0]))
            #expect(words.count == events.count + 1)
            for (event, word) in zip(events, words.dropFirst()) {
                // An empty cell is an event that this state does not have.
                let expected = DeliveryState(rawValue: word)
                #expect(word.isEmpty || expected != nil, "\(word)")
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
