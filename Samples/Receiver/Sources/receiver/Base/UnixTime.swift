import CaptureBundle
import Foundation

/// Unix time in milliseconds, and its text: `2026-03-14T15:09:26.535Z`.
enum UnixTime {
    static var now: Int { Int(Date().timeIntervalSince1970 * 1000) }

    static func text(_ milliseconds: Int) -> String { CaptureTime(milliseconds: milliseconds)?.description ?? "" }
}
