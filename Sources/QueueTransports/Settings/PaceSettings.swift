import CaptureNative
package import QueueModel

/// How much is sent at a time, and how often a delivery is tried.
package struct PaceSettings: Hashable, Sendable {
    /// The number of transfers at the same time.
    package var concurrency = 1
    /// The rate limit; nil for no limit.
    package var bytesPerSecond: Int?
    package var retry = RetryPolicy.standard

    init() {}

    init(_ reader: inout SettingsReader) throws(SettingsFault) {
        concurrency =
            try reader.value("concurrency", "concurrency must be 1 to 64") { text in
                WholeNumber.parse(text).flatMap { (1...64).contains($0) ? $0 : nil }
            } ?? 1
        if !reader.isNone("bwlimit") {
            bytesPerSecond = try reader.value("bwlimit", "bwlimit must be a size, such as 2MB, or none") { text in
                ByteSize.bytes(text).flatMap { $0 < 1 ? nil : $0 }
            }
        }
        let delays = try reader.value(
            "retry", "retry must be a list of 1 to 100 numbers of seconds, each at most 604800, such as 0,1,2,4,8,300x5"
        ) { RetryPolicy(text: $0)?.delays }
        let jitter = try reader.value("jitter", "jitter must be 0% to 100%", Self.percentage)
        let lifetime = try reader.value("lifetime", "lifetime must be an age, such as 30d") {
            QueueAge($0)?.milliseconds
        }
        retry = RetryPolicy(delays: delays ?? retry.delays, jitter: jitter ?? 0, lifetime: lifetime)
    }

    /// Parses a text such as `20%`.
    private static func percentage(_ text: String) -> Int? {
        guard text.hasSuffix("%"), let number = WholeNumber.parse(text.without(last: 1)), number <= 100 else {
            return nil
        }
        return number
    }
}
