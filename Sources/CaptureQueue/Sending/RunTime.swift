import QueueModel

/// The time of a run.
package struct RunTime: Hashable, Sendable {
    /// For what is awaited: the wall clock when the run started, and the boot clock since then.
    let wall: Int
    /// For what is recorded. It is never earlier than a time that was seen before.
    let stamp: Int
}

extension QueueClock.Reading {
    /// - Parameter run: the time of a run; nil where none is under way.
    func time(in run: RunTime?) -> RunTime {
        RunTime(wall: run?.wall ?? wall, stamp: max(run?.stamp ?? stamp, stamp))
    }
}
