import CaptureTestSupport
import Foundation
import QueueModel
import Testing

/// The classes of answers are those of Spec/upload.md section 4. The tests read its tables line by line and compare
/// every possible answer.
struct AnswerClassTests {
    private static let page = Result { try SpecTables("upload.md") }

    @Test func namesTheClassesOfThePage() throws {
        let part = try Self.page.get().part(from: "## 4. What a server answers", to: "### 4.1 Status codes")
        let words = part.matches(of: /\n\| `([a-z]+)` \|/).map { String($0.1) }
        #expect(words + ["followed"] == AnswerClass.allCases.map(\.rawValue))
    }

    @Test func followsTheTableForEveryStatusKindAndCondition() throws {
        let rows = try ["s3 codes", "statuses"].flatMap { try Self.page.get().lines($0).lines }.map(StatusRow.init)
        try #require(!rows.isEmpty)
        var used: Set<Int> = []
        var wrong: [String] = []
        for kind in AnswerFacts.Kind.allCases {
            for status in 0...999 {
                let candidates = rows.indices.filter { rows[$0].mayMatch(status, kind) }
                for facts in Self.answers(status, rows.filter { $0.mayMatch(status, .s3) }.flatMap(\.codes)) {
                    guard let row = candidates.first(where: { rows[$0].condition(facts) }) else {
                        wrong.append("\(kind) \(facts): no line")
                        continue
                    }
                    used.insert(row)
                    let found = AnswerClass.of(facts, kind: kind)
                    // Whatever the page says: only a success means that the capture landed.
                    if found == .landed && !(200...299).contains(status) { wrong.append("\(kind) \(facts): landed") }
                    if found != rows[row].result { wrong.append("\(kind) \(facts): \(found), not \(rows[row].result)") }
                }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count), the first: \(wrong.prefix(3))")
        // A line that no answer reaches is hidden by a line above it.
        #expect(used == Set(rows.indices))
    }

    @Test func takesAStatusThatIsNoneForAnOutage() {
        for status in [Int.min, -202, -1, 1000, 1202, .max] {
            for kind in AnswerFacts.Kind.allCases {
                let facts = AnswerFacts(status: status, code: "FORBIDDEN", hasRetryAfter: true, wasSentWhole: true)
                #expect(AnswerClass.of(facts, kind: kind) == .outage)
            }
        }
    }

    @Test func followsTheTableForEveryCodeOfCurl() throws {
        let clauses = try Self.page.get().lines("curl").lines.flatMap(CurlClause.clauses)
        for code in -1...150 {
            for isConnected in [false, true] {
                for (isSent, isSilent) in [(false, false), (false, true), (true, false), (true, true)]
                where isConnected || !isSilent {
                    let clause = try #require(clauses.first { $0.matches(code, isConnected, isSent, isSilent) })
                    let found = AnswerClass.ofCurl(
                        code, wasConnected: isConnected, wasSentWhole: isSent, wasSilent: isSilent)
                    #expect(found == clause.result, "\(code), connected \(isConnected), sent \(isSent), \(isSilent)")
                }
            }
        }
    }

    /// Every code that the page names and some others, with every combination of the other conditions.
    private static func answers(_ status: Int, _ ofStores: [String]) -> [AnswerFacts] {
        let codes = [
            nil, "", "SOMETHING", "TIMESTAMP_EXPIRED", "TIMESTAMP_INVALID", "REPLAY_DETECTED", "RequestTimeTooSkewed",
            "DEVICE_UNVERIFIED", "FORBIDDEN", "DEVICE_NOT_FOUND", "forbidden", "SlowDown", "badDigest",
        ]
        let plain = (codes + ofStores).flatMap { code in
            (0..<(status == 400 ? 256 : ofStores.isEmpty ? 32 : 64)).compactMap { bits -> AnswerFacts? in
                let (isPage, hasReason) = (bits & 1 != 0, bits & 64 != 0)
                if isPage && hasReason { return nil }
                return AnswerFacts(
                    status: status, code: code, isPage: isPage, hasReason: hasReason, isOfCertificate: bits & 128 != 0,
                    hasRetryAfter: bits & 2 != 0, wasSentWhole: bits & 4 != 0, sentToken: bits & 8 != 0,
                    isFetchedOrExpired: bits & 16 != 0, isDateOff: bits & 32 != 0)
            }
        }
        let redirected = [1, 2, 5, 6, 100].flatMap { count in
            (0..<16).map { bits in
                AnswerFacts(
                    status: status, wasSentWhole: bits & 8 != 0, sentToken: bits & 4 != 0,
                    redirect: RedirectFacts(
                        isPreserving: status == 307 || status == 308, isSameOrigin: bits & 1 != 0,
                        isDowngrade: bits & 2 != 0, carriesCredentials: bits & 4 != 0, count: count))
            }
        }
        return plain + redirected
    }
}

private func result(_ cell: String) throws -> AnswerClass {
    try #require(AnswerClass(rawValue: cell.replacing("`", with: "")), "\(cell)")
}

/// One line of the table of HTTP statuses.
private struct StatusRow {
    let kinds: [AnswerFacts.Kind]
    let statuses: [ClosedRange<Int>]
    let codes: [String]
    let condition: (AnswerFacts) -> Bool
    let result: AnswerClass

    /// - Parameter cells: the last one of a line about stores says where its codes were seen.
    init(_ cells: [String]) throws {
        try #require(cells.count == 4 || cells.count == 5, "\(cells)")
        kinds =
            cells[0] == "any"
            ? AnswerFacts.Kind.allCases
            : try cells[0].split(separator: ", ").map { try #require(AnswerFacts.Kind(rawValue: String($0))) }
        statuses = try cells[1].split(separator: ", ").map(Self.range)
        codes = cells.count == 5 ? Self.codes(cells[2]) : []
        condition = try Self.condition(cells[2])
        result = try QueueModelTests.result(cells[3])
    }

    func mayMatch(_ status: Int, _ kind: AnswerFacts.Kind) -> Bool {
        kinds.contains(kind) && statuses.contains { $0.contains(status) }
    }

    /// Reads a range of statuses such as `202`, `200–299` or `below 100`.
    private static func range(_ text: Substring) throws -> ClosedRange<Int> {
        if text.hasPrefix("below ") { return 0...(try #require(Int(text.dropFirst(6))) - 1) }
        let ends = try text.split(separator: "–").map { try #require(Int($0)) }
        return try #require(ends.first)...(try #require(ends.last))
    }

    private static func codes(_ text: String) -> [String] {
        text.matches(of: /`([A-Za-z0-9_]+)`/).map { String($0.1) }
    }

    private static func condition(_ text: String) throws -> (AnswerFacts) -> Bool {
        if let match = text.wholeMatch(of: /code (`\w+`(?:(?:, | or )`\w+`)*)(, or none)?(?:, (.+))?/) {
            let codes = codes(String(match.1))
            let mayBeMissing = match.2 != nil
            let rest = try condition(match.3.map(String.init) ?? "")
            return { facts in (facts.code.map { codes.contains($0) } ?? mayBeMissing) && rest(facts) }
        }
        if text.contains("307 or 308") {
            let phrases = try text.split(separator: ", ").map(redirectPhrase)
            return { facts in
                guard let redirect = facts.redirect else { return false }
                return phrases.allSatisfy { $0(facts.status, redirect) }
            }
        }
        switch text {
        case "": return { _ in true }
        case "a bearer token was sent": return { $0.sentToken }
        case "the URL is fetched, or its time is over": return { $0.isFetchedOrExpired }
        case "no code, no page": return { $0.code == nil && !$0.isPage }
        case "a code": return { $0.code != nil }
        case "a reason": return { $0.hasReason }
        case "no code, a reason, the URL is fetched, or its time is over":
            return { $0.code == nil && $0.hasReason && $0.isFetchedOrExpired }
        case "a page, and the request had a client certificate or the page names one":
            return { $0.isPage && $0.isOfCertificate }
        case "a page, not the whole body was sent": return { $0.isPage && !$0.wasSentWhole }
        case "Date differs": return { $0.isDateOff }
        case "a page": return { $0.isPage }
        case "Retry-After": return { $0.hasRetryAfter }
        case "the whole body was sent": return { $0.wasSentWhole }
        case "not the whole body was sent": return { !$0.wasSentWhole }
        default: throw UnknownWords(text: text)
        }
    }

    private static func redirectPhrase(_ text: Substring) throws -> (Int, RedirectFacts) -> Bool {
        switch text {
        case "same origin": return { $1.isSameOrigin }
        case "307 or 308": return { status, _ in status == 307 || status == 308 }
        case "307 or 308 to another origin": return { ($0 == 307 || $0 == 308) && !$1.isSameOrigin }
        case "at most 5 in a row": return { $1.count <= 5 }
        case "no credentials in the request": return { !$1.carriesCredentials }
        case "not from https to http": return { !$1.isDowngrade }
        default: throw UnknownWords(text: String(text))
        }
    }
}

/// One part of a line in the table of libcurl's codes: some codes, and the condition under which they count.
private struct CurlClause {
    let result: AnswerClass
    /// The codes; nil for all codes that no other line names.
    let codes: [Int]?
    let isConnected: Bool?
    let isSent: Bool?
    let isSilent: Bool?

    func matches(_ code: Int, _ connected: Bool, _ sent: Bool, _ silent: Bool) -> Bool {
        codes?.contains(code) != false && isConnected != !connected && isSent != !sent && isSilent != !silent
    }

    static func clauses(_ cells: [String]) throws -> [CurlClause] {
        try #require(cells.count == 2, "\(cells)")
        let result = try QueueModelTests.result(cells[0])
        if cells[1] == "the same when not sent, and all others" {
            return [CurlClause(result: result, codes: nil, isConnected: nil, isSent: nil, isSilent: nil)]
        }
        return try cells[1].split(separator: "; ").map { clause in
            let match = try #require(clause.wholeMatch(of: /([0-9]+(?:(?:, | and )[0-9]+)*)(.*)/), "\(clause)")
            let codes = match.1.matches(of: /[0-9]+/).compactMap { Int($0.0) }
            let (isConnected, isSent, isSilent): (Bool?, Bool?, Bool?) =
                switch match.2 {
                case "": (nil, nil, nil)
                case " before a connection was there": (false, nil, nil)
                case " with a connection": (true, nil, nil)
                case " when sent": (nil, true, nil)
                case " when closed in silence": (nil, nil, true)
                default: throw UnknownWords(text: String(match.2))
                }
            return CurlClause(
                result: result, codes: codes, isConnected: isConnected, isSent: isSent, isSilent: isSilent)
        }
    }
}

/// The error for words of the page that this test does not know yet.
private struct UnknownWords: Error {
    let text: String
}
