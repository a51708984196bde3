package import CaptureBundle
package import CaptureDevice

/// Collects the errors and remarks of many captures, and prints each kind once: the first three files, how many others
/// have it, and the hints of the first.
package struct FindingList {
    private struct Kind {
        /// nil for an error.
        let weight: Remark.Weight?
        let message: String
        let hints: [String]
        var last: String
        var files: [String] = []
        var fileCount = 1
        var count = 1
    }

    private var kinds: [Kind] = []
    /// The index of each kind, by the bytes that make two findings the same: the word before the message, the code, the message.
    private var places: [[UInt8]: Int] = [:]
    private static let shown = 3

    package init() {}

    /// Whether the list should be printed now, because more kinds would take too much memory.
    package var isFull: Bool { kinds.count >= 1000 }

    package mutating func add(_ error: BundleError) {
        for fault in error.each {
            let file = [fault.file.map { $0.isEmpty ? "\"\"" : $0 }, fault.entry].compactMap(\.self)
            add(
                Kind(
                    weight: nil, message: fault.message, hints: fault.advice,
                    last: file.joined(separator: ": ")), ["error", fault.code.rawValue, fault.message])
        }
    }

    package mutating func add(_ remark: Remark) {
        add(
            Kind(weight: remark.weight, message: remark.message, hints: [], last: remark.file),
            [remark.weight.rawValue, remark.code, remark.message])
    }

    private mutating func add(_ found: Kind, _ words: [String]) {
        let key = words.flatMap { word -> [UInt8] in Array(word.utf8) + [0] }
        guard let index = places[key] else {
            places[key] = kinds.count
            var kind = found
            kind.files = [kind.last]
            kinds.append(kind)
            return
        }
        kinds[index].count += 1
        // The findings of one file follow each other.
        guard kinds[index].last != found.last else { return }
        kinds[index].last = found.last
        kinds[index].fileCount += 1
        if kinds[index].files.count < Self.shown { kinds[index].files.append(found.last) }
    }

    /// Prints the kinds in the order in which they were found first, and forgets them.
    package mutating func report(_ diagnostic: Diagnostic) {
        for kind in kinds {
            let more = kind.fileCount - kind.files.count
            let files = kind.files.filter { !$0.isEmpty }.joined(separator: ", ")
            let others = more > 0 ? " and \(Quantity.number(more, on: .messages)) more" : ""
            let frames = kind.count == kind.fileCount ? "" : " (\(Quantity.count(kind.count, "frame", on: .messages)))"
            let text = (files.isEmpty ? "" : "\(files)\(others): ") + kind.message + frames
            diagnostic.finding(kind.weight, text, hints: kind.hints)
        }
        kinds = []
        places = [:]
    }
}
