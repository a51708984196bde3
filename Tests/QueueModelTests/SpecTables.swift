import CaptureTestSupport
import Foundation
import Testing

/// The tables of a page of Spec, which tests read line by line.
struct SpecTables {
    let page: String

    init(_ name: String) throws {
        page = try String(contentsOf: Places.root.appending(path: "Spec/\(name)"), encoding: .utf8)
    }

    /// The text between two texts of the page.
    func part(from begin: String, to end: String) throws -> Substring {
        let (begin, end) = (try #require(page.firstRange(of: begin)), try #require(page.firstRange(of: end)))
        return page[begin.upperBound..<end.lowerBound]
    }

    /// The cells of each line between `<!-- name -->` and the end of the table, without the line below its head.
    func lines(_ name: String) throws -> (head: [String], lines: [[String]]) {
        let all = try part(from: "<!-- \(name) -->", to: "<!-- end of \(name) -->").split(separator: "\n").map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
        return (try #require(all.first), Array(all.dropFirst(2)))
    }
}
