import CaptureBundle
import Hummingbird
import HummingbirdCore

/// Which captures the operator looks for. What is nil is not asked for.
struct CaptureSearch: Sendable {
    /// A day of the claimed time in UTC, such as `2026-03-14`.
    let day: String?
    let device: String?
    let verdict: Verdict?
    /// Only captures with a smaller number.
    let before: Int?

    enum Verdict: String, CaseIterable { case verified, revoked }

    /// Reads the parameters of a query. A parameter in a wrong form is ignored.
    init(_ query: FlatDictionary<Substring, Substring>) {
        func text(_ name: String) -> String? { query[Substring(name)].map { String($0) } }
        day = text("day").flatMap { CaptureTime("\($0)T00:00:00Z") == nil ? nil : $0 }
        device = text("device").flatMap { RequestSignature.isDeviceID($0) ? $0 : nil }
        verdict = text("verdict").flatMap(Verdict.init)
        before = text("before").flatMap { Int($0) }
    }

    /// The query of the page with older captures.
    func query(before number: Int) -> String {
        let parts = [
            day.map { "day=\($0)" }, device.map { "device=\($0)" }, verdict.map { "verdict=\($0.rawValue)" },
            "before=\(number)",
        ]
        return parts.compactMap(\.self).joined(separator: "&")
    }

    var isEmpty: Bool { day == nil && device == nil && verdict == nil }
}
