import Foundation
import Synchronization

/// The two lines that a receiver prints once both of its servers listen.
final class StartLines: Sendable {
    private let lines = Mutex<[String?]>([nil, nil])

    func say(_ line: String, at place: Int) {
        lines.withLock { lines in
            lines[place] = "\(line)\n"
            let known = lines.compactMap(\.self)
            // Written at once: a program may wait for the lines.
            if known.count == lines.count { FileHandle.standardOutput.write(Data(known.joined().utf8)) }
        }
    }
}
