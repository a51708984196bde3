import Foundation

/// Unix time in milliseconds.
enum UnixTime {
    static var now: Int { Int(Date().timeIntervalSince1970 * 1000) }

    /// A time as text: `2026-03-14T15:09:26.535Z`.
    static func text(_ milliseconds: Int) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            .formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true)) + "Z"
    }
}
