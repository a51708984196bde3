import CaptureBundle
import Foundation

/// Unix time in milliseconds.
enum UnixTime {
    static var now: Int { Int(Date().timeIntervalSince1970 * 1000) }

    /// A time as text: `2026-03-14T15:09:26.535Z`.
    static func text(_ milliseconds: Int) -> String { CaptureTime(milliseconds: milliseconds)?.description ?? "" }
}
