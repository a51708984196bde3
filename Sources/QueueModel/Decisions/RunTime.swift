package struct RunTime: Hashable, Sendable {
    /// For due times: the wall clock at the start of the run, plus the time since then by the boot clock.
    package let wall: Int
    /// For stored times. It is never earlier than a time that was seen before.
    package let stamp: Int

    package init(wall: Int, stamp: Int) { (self.wall, self.stamp) = (wall, stamp) }
}

extension QueueClock.Reading {
    /// - Parameter run: the time of a run; nil where none is under way.
    package func time(in run: RunTime?) -> RunTime {
        RunTime(wall: run?.wall ?? wall, stamp: max(run?.stamp ?? stamp, stamp))
    }
}
