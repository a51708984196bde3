/// How far the times of a photo and its depth map may be apart: 1 microsecond to 1 second.
public struct MatchLimit: Hashable, Sendable, LosslessStringConvertible {
    public let description: String
    let nanoseconds: Int

    package static let usual = MatchLimit(known: "20ms", 20_000_000)

    private init(known text: String, _ nanoseconds: Int) { (description, self.nanoseconds) = (text, nanoseconds) }

    /// Parses a whole number with a unit, such as `20ms`, `500us` or `1s`; nil for other texts and times above 1 s.
    public init?(_ text: String) {
        for (unit, factor) in [("ms", 1_000_000), ("us", 1000), ("s", 1_000_000_000)] {
            guard let digits = text.rest(before: unit), (1...7).contains(digits.utf8.count),
                digits.utf8.allSatisfy({ (48...57).contains($0) }), let count = Int(digits)
            else { continue }
            guard count > 0, count * factor <= 1_000_000_000 else { return nil }
            self.init(known: text, count * factor)
            return
        }
        return nil
    }
}
