import CaptureBundle
import QueueModel
import Testing

/// What prune may delete, for every combination of states, receipts, holdings and ages.
struct RetentionPolicyTests {
    private static let day = 86_400_000
    private static let week = RetentionPolicy(retention: 7 * day)
    private static let hash = Digest(bytes: [UInt8](repeating: 7, count: 32))

    private static let all = policy(7 * day) { $0.includesCancelled = true }
    private static let parts = policy(7 * day) { $0.acceptsParts = true }

    private static func policy(_ retention: Int, _ choose: (inout PruneOptions) -> Void) -> RetentionPolicy {
        var options = PruneOptions()
        choose(&options)
        return RetentionPolicy(retention: retention, options)
    }

    private static func facts(
        _ states: [DeliveryState], receipts: Bool = true, parts: [Bool]? = nil, holding: Holding = .spool,
        finishedAt: Int? = 0, storedAt: Int = 0
    ) -> RetentionPolicy.Facts {
        let deliveries = states.enumerated().map { index, state in
            RetentionPolicy.Facts.Delivery(
                state: state, hasReceipt: receipts && state == .completed, isOfPart: parts?[index] ?? false)
        }
        return .init(
            sha256: hash, holding: holding, deliveries: deliveries, finishedAt: finishedAt, storedAt: storedAt)
    }

    /// The policy, the facts, the time, and whether the bytes may go.
    static let cases: [(RetentionPolicy, RetentionPolicy.Facts, Int, Bool)] = [
        // Completed for seven days.
        (week, facts([.completed]), 7 * day, true), (week, facts([.completed]), 7 * day - 1, false),
        (week, facts([.completed, .cancelled]), 8 * day, true),
        // Never without a receipt.
        (week, facts([.completed], receipts: false), .max, false), (week, facts([]), .max, false),
        (week, facts([.completed], finishedAt: nil), .max, false),
        // Cancelled captures only if the user asks. One that was uploaded elsewhere still waits for its retention.
        (week, facts([.cancelled], finishedAt: nil), .max, false), (all, facts([.cancelled], finishedAt: nil), 0, true),
        (all, facts([.completed, .cancelled]), day, false),
        // A capture that was stored again was acknowledged again, so its retention starts again.
        (week, facts([.completed], storedAt: day), 8 * day - 1, false),
        (week, facts([.completed], storedAt: day), 8 * day, true),
        (week, facts([.completed], storedAt: -day), 7 * day, true),
        (week, facts([.completed], storedAt: .max), 7 * day, false),
        // Never if only parts were delivered, unless the user accepts that.
        (week, facts([.completed], parts: [true]), .max, false),
        (week, facts([.completed, .completed], parts: [true, true]), .max, false),
        (week, facts([.completed, .completed], parts: [true, false]), 7 * day, true),
        (parts, facts([.completed], parts: [true]), 7 * day, true),
        (parts, facts([.completed], parts: [true]), 7 * day - 1, false),
        // Never what is set aside or gone.
        (week, facts([.completed], holding: .quarantined), .max, false),
        (week, facts([.completed], holding: .missing), .max, false),
        (week, facts([.completed], holding: .removed), .max, false),
    ]

    @Test(arguments: cases.indices)
    func letsGoOnlyOfWhatIsSafeElsewhere(_ index: Int) {
        let (policy, facts, now, isPermitted) = Self.cases[index]
        #expect((policy.permit(facts, now: now) != nil) == isPermitted)
    }

    /// A failed capture is the only copy, so prune never deletes it.
    @Test func neverLetsGoOfWhatIsNotCompletedWhateverItsAge() {
        for policy in [Self.week, Self.policy(0) { $0.includesCancelled = true }] {
            for state in DeliveryState.allCases where state != .completed && state != .cancelled {
                #expect(policy.permit(Self.facts([state]), now: .max) == nil)
                for other in DeliveryState.allCases {
                    #expect(policy.permit(Self.facts([other, state]), now: .max) == nil, "\(other) and \(state)")
                }
            }
        }
    }

    @Test func neverTouchesTheUsersFile() {
        #expect(Self.week.permit(Self.facts([.completed], holding: .reference), now: .max)?.includesBundle == false)
    }

    @Test func takesBackOnlyWhatNoRowNames() {
        #expect(RetentionPolicy.permitToTakeBack(Self.hash, rows: 0) != nil)
        #expect(RetentionPolicy.permitToTakeBack(Self.hash, rows: 1) == nil)
        #expect(RetentionPolicy.permitForSidecar(Self.hash, rows: 0, hasBundle: true) == nil)
        #expect(RetentionPolicy.permitForSidecar(Self.hash, rows: 1, hasBundle: false) == nil)
    }
}
