import Foundation
import Synchronization

/// The lines that a receiver prints when its servers listen. They appear in their order, whichever server is first.
final class StartLines: Sendable {
    private struct State {
        var waiting: [Int: String] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    /// - Parameter place: The place of the line, from 0.
    func say(_ line: String, at place: Int) {
        state.withLock { state in
            state.waiting[place] = line
            while let line = state.waiting.removeValue(forKey: state.next) {
                // Written at once: a program may wait for the line.
                FileHandle.standardOutput.write(Data("\(line)\n".utf8))
                state.next += 1
            }
        }
    }
}
