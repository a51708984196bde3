import QueueModel

/// The time of a run.
package struct RunTime: Hashable, Sendable {
    /// For due times: the wall clock at the start of the run, plus the time since then by the boot clock.
    let wall: Int
    /// For stored times. It is never earlier than a time that was seen before.
    let stamp: Int
}

extension QueueClock.Reading {
    /// - Parameter run: the time of a run; nil where none is under way.
    func time(in run: RunTime?) -> RunTime {
        RunTime(wall: run?.wall ?? wall, stamp: max(run?.stamp ?? stamp, stamp))
    }
}
