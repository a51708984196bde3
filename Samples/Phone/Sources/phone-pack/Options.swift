import Foundation

struct Failure: LocalizedError {
    let message: String
    var errorDescription: String? { message }

    init(_ message: String) { self.message = message }
}

/// The words of the command line. Only the flags have no value.
struct Options {
    private static let flags: Set = ["send", "typed"]
    private var files: [String] = []
    private var values: [String: String] = [:]

    init(_ words: some Sequence<String>) throws {
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            let name = String(word.dropFirst(2))
            if !word.hasPrefix("--") {
                files.append(word)
            } else if Self.flags.contains(name) {
                values[name] = ""
            } else if let value = rest.popFirst() {
                values[name] = value
            } else {
                throw Failure("\(word) has no value")
            }
        }
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    func text(_ name: String, or usual: String? = nil) throws -> String {
        guard let value = values[name] ?? usual else { throw Failure("--\(name) is missing") }
        return value
    }

    func file(_ name: String) throws -> URL { URL(fileURLWithPath: try text(name)) }

    func file(_ index: Int) throws -> URL {
        guard files.indices.contains(index) else { throw Failure("two files are expected") }
        return URL(fileURLWithPath: files[index])
    }

    func hex(_ name: String, or usual: String? = nil) throws -> Data {
        let digits = Array(try text(name, or: usual))
        return Data(
            try stride(from: 0, to: digits.count, by: 2).map { start in
                guard let byte = UInt8(String(digits[start..<min(start + 2, digits.count)]), radix: 16) else {
                    throw Failure("--\(name) is not hex")
                }
                return byte
            })
    }
}
