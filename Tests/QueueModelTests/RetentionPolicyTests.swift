import CaptureBundle
import QueueModel
import Testing

/// What prune may delete, for every combination of states, receipts, holdings and ages.
struct RetentionPolicyTests {
    private static let day = 86_400_000
    private static let week = RetentionPolicy(retention: 7 * day, includesCancelled: false)
    private static let hash = Digest(bytes: [UInt8](repeating: 7, count: 32))

    private func facts(
        _ states: [DeliveryState], receipts: Bool = true, holding: Holding = .spool, finishedAt: Int? = 0
    ) -> RetentionPolicy.Facts {
        .init(
            sha256: Self.hash, holding: holding,
            deliveries: states.map { .init(state: $0, hasReceipt: receipts && $0 == .completed) },
            finishedAt: finishedAt)
    }

    @Test func letsGoOfWhatIsCompletedForSevenDays() {
        #expect(Self.week.permit(facts([.completed]), now: 7 * Self.day) != nil)
        #expect(Self.week.permit(facts([.completed]), now: 7 * Self.day - 1) == nil)
        #expect(Self.week.permit(facts([.completed, .cancelled]), now: 8 * Self.day) != nil)
    }

    /// A failed capture is the only copy, so prune never deletes it.
    @Test func neverLetsGoOfWhatIsNotCompletedWhateverItsAge() {
        for policy in [Self.week, RetentionPolicy(retention: 0, includesCancelled: true)] {
            for state in DeliveryState.allCases where state != .completed && state != .cancelled {
                #expect(policy.permit(facts([state]), now: .max) == nil)
                for other in DeliveryState.allCases {
                    #expect(policy.permit(facts([other, state]), now: .max) == nil, "\(other) and \(state)")
                }
            }
        }
    }

    @Test func neverLetsGoWithoutAReceipt() {
        #expect(Self.week.permit(facts([.completed], receipts: false), now: .max) == nil)
        #expect(Self.week.permit(facts([]), now: .max) == nil)
        #expect(Self.week.permit(facts([.completed], finishedAt: nil), now: .max) == nil)
    }

    @Test func letsGoOfCancelledOnesOnlyWhenAskedTo() {
        #expect(Self.week.permit(facts([.cancelled], finishedAt: nil), now: .max) == nil)
        let asked = RetentionPolicy(retention: 7 * Self.day, includesCancelled: true)
        #expect(asked.permit(facts([.cancelled], finishedAt: nil), now: 0) != nil)
        // A capture that was uploaded to another destination still waits for its retention.
        #expect(asked.permit(facts([.completed, .cancelled]), now: Self.day) == nil)
    }

    /// A capture that was stored again after its release was acknowledged again, so its retention starts again.
    @Test func keepsWhatWasStoredLaterThanItWasDelivered() {
        func facts(storedAt: Int) -> RetentionPolicy.Facts {
            .init(
                sha256: Self.hash, holding: .spool, deliveries: [.init(state: .completed, hasReceipt: true)],
                finishedAt: 0, storedAt: storedAt)
        }
        #expect(Self.week.permit(facts(storedAt: Self.day), now: 8 * Self.day - 1) == nil)
        #expect(Self.week.permit(facts(storedAt: Self.day), now: 8 * Self.day) != nil)
        #expect(Self.week.permit(facts(storedAt: -Self.day), now: 7 * Self.day) != nil)
        #expect(Self.week.permit(facts(storedAt: .max), now: 7 * Self.day) == nil)
    }

    @Test func neverLetsGoOfWhatOnlyPartsWereDeliveredOf() {
        func facts(_ parts: [Bool]) -> RetentionPolicy.Facts {
            .init(
                sha256: Self.hash, holding: .spool,
                deliveries: parts.map { .init(state: .completed, hasReceipt: true, isOfPart: $0) }, finishedAt: 0)
        }
        let accepting = RetentionPolicy(retention: 7 * Self.day, includesCancelled: false, acceptsParts: true)
        #expect(Self.week.permit(facts([true]), now: .max) == nil)
        #expect(Self.week.permit(facts([true, true]), now: .max) == nil)
        #expect(Self.week.permit(facts([true, false]), now: 7 * Self.day) != nil)
        #expect(accepting.permit(facts([true]), now: 7 * Self.day) != nil)
        #expect(accepting.permit(facts([true]), now: 7 * Self.day - 1) == nil)
    }

    @Test func neverTouchesTheUsersFile() {
        #expect(Self.week.permit(facts([.completed], holding: .reference), now: .max)?.includesBundle == false)
    }

    @Test func neverTouchesWhatIsSetAsideOrGone() {
        for holding in [Holding.quarantined, .missing, .removed] {
            #expect(Self.week.permit(facts([.completed], holding: holding), now: .max) == nil)
        }
    }

    @Test func takesBackOnlyWhatNoRowNames() {
        #expect(RetentionPolicy.permitToTakeBack(Self.hash, rows: 0) != nil)
        #expect(RetentionPolicy.permitToTakeBack(Self.hash, rows: 1) == nil)
        #expect(RetentionPolicy.permitForSidecar(Self.hash, rows: 0, hasBundle: true) == nil)
        #expect(RetentionPolicy.permitForSidecar(Self.hash, rows: 1, hasBundle: false) == nil)
    }
}
