/// How much is sent at a time, and how often a delivery is tried.
public struct PaceSettings: Hashable, Sendable {
    /// The number of transfers at the same time: 1 to 64.
    public var concurrency = 1
    /// The rate limit; nil for no limit.
    public var bytesPerSecond: Int?
    public var retry = RetryPolicy.standard

    public init() {}

    mutating func pass(_ texts: inout SettingTexts) throws(QueueError) {
        try texts.pass("concurrency", &concurrency, usual: 1, .number(" must be 1 to 64", 1...64, ending: ""))
        texts.drop("bwlimit", "none")
        try texts.pass(
            "bwlimit", &bytesPerSecond,
            SettingForm(
                expected: " must be a size, such as 2MB, or none",
                read: { text in ByteSize.bytes(text).flatMap { $0 < 1 ? nil : $0 } }, write: ByteSize.text))
        var (delays, jitter) = (retry.delays, retry.jitter)
        var lifetime = retry.lifetime
        try texts.pass(
            "retry", &delays, usual: RetryPolicy.standard.delays,
            SettingForm(
                expected:
                    " must be a list of 1 to 100 numbers of seconds, each at most 604800, such as 0,1,2,4,8,300x5",
                read: { RetryPolicy(text: $0)?.delays }, write: { RetryPolicy(delays: $0).text }))
        try texts.pass("jitter", &jitter, usual: 0, .number(" must be 0% to 100%", 0...100, ending: "%"))
        try texts.pass(
            "lifetime", &lifetime,
            SettingForm(expected: " must be an age, such as 30d", read: { Duration(age: $0) }, write: \.age))
        retry = RetryPolicy(delays: delays, jitter: jitter, lifetime: lifetime)
    }
}

extension SettingForm where Value == Int {
    fileprivate static func number(_ expected: String, _ range: ClosedRange<Int>, ending: String) -> Self {
        Self(
            expected: expected,
            read: { text in
                guard text.hasSuffix(ending), let number = WholeNumber.parse(text.without(last: ending.utf8.count))
                else { return nil }
                return range.contains(number) ? number : nil
            }, write: { "\($0)\(ending)" })
    }
}
