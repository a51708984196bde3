import CaptureQueue
import QueueModel
import Testing

/// When a run may begin a transfer (Spec/queue.md section 13).
struct RunStateTests {
    private static let start = 1_700_000_000_000

    @Test func beginsNothingWhilePausedOrStopping() {
        var run = RunState()
        func begins(_ number: Int) -> Bool {
            let ticket = run.begin(number, at: Self.start)
            #expect((ticket == nil) == (run.permission(number, at: Self.start) == .paused))
            return ticket != nil
        }
        #expect(begins(1))
        run[1] = DestinationState(.init(), isPaused: true, at: Self.start)
        #expect(!begins(1))
        #expect(begins(2))
        run.isPaused = true
        #expect(!begins(2))
        (run.isPaused, run.isStopping) = (false, true)
        #expect(!begins(2))
    }
}
