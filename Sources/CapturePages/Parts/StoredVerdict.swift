public import CaptureBundle

/// Says in plain words what a server found in a bundle that it has kept since it arrived. The short words are those of
/// `capbundle verify`.
public struct StoredVerdict: Sendable {
    public let tone: Tone
    public let words: String
    /// What the verdict means for the reader of the page.
    public let meaning: String

    /// - Parameters:
    ///   - isRevoked: Whether the device is revoked.
    ///   - isAsItArrived: Whether the stored bytes are those that arrived.
    public init(_ report: VerificationReport, isRevoked: Bool, isAsItArrived: Bool) {
        let signer = report.trustedDevice.map { "\u{201c}\($0.name)\u{201d}" } ?? "this device"
        let found: (Tone, String, String) =
            switch report.verdict {
            case let verdict where ![.altered, .malformed].contains(verdict) && !isAsItArrived:
                (.bad, "REPLACED", "The stored bundle is sound, but it is not the one that arrived. Do not rely on it.")
            case .verified where !report.withheld.isEmpty:
                (
                    .doubtful, "Verified on arrival, entries withheld",
                    "Every byte that is here is as it was when \(signer) signed it. But somebody left out "
                        + "\(report.withheld.map(\.description).joined(separator: ", ")) before the bundle was sent."
                )
            case .verified:
                (
                    .good, "Verified on arrival, unchanged since",
                    "Every byte is as it was when \(signer) signed it. This device is registered here."
                )
            case .unknownDevice:
                (
                    .doubtful, "Sound, but the device is unknown",
                    "Nothing was changed since the bundle was signed. But this receiver no longer knows the device."
                )
            case .unacceptable where isRevoked:
                (
                    .doubtful, "Not acceptable: the device was revoked",
                    "Nothing was changed since the bundle was signed. But the operator has revoked the key of \(signer): "
                        + "somebody else may have used it."
                )
            case .unacceptable:
                (
                    .doubtful, "Not acceptable",
                    "Nothing was changed since the bundle was signed. But a rule of this receiver refuses it."
                )
            case .altered:
                (.bad, "ALTERED", "The stored bundle was changed after it was signed. Do not rely on it.")
            case .malformed:
                (.bad, "MALFORMED", "The stored file can no longer be read as a bundle. Do not rely on it.")
            }
        (tone, words, meaning) = found
    }

    /// The verdict as the box at the top of a page.
    public var html: HTML {
        """
        <section class="verdict \(tone.name)" aria-labelledby="verdict">
        \(tone.sign)
        <div><h1 id="verdict">\(words)</h1>
        <p>\(meaning)</p></div>
        </section>

        """
    }

    /// A fault or a warning with its code.
    public static func finding(_ error: BundleError) -> String {
        "\(error.entry.map { "\($0): " } ?? "")\(error.message) [\(error.code.rawValue)]"
    }

    /// The section with the topics that a verdict does not cover; nil if there are none.
    ///
    /// - Parameter report: Its `notChecked` are the topics.
    public static func limits(_ report: VerificationReport) -> HTML? {
        let lines = report.notChecked.compactMap { explanation($0, report.stamp) }
        guard !lines.isEmpty else { return nil }
        return """
            <section aria-labelledby="limits">
            <h2 id="limits">What is not proven</h2>
            <ul>
            \(lines.map { "<li>\($0)</li>\n" as HTML })</ul>
            </section>

            """
    }

    /// Says why the verdict does not cover a topic; nil for an unknown topic.
    private static func explanation(_ topic: String, _ stamp: StampedTime?) -> HTML? {
        switch topic {
        case "trust": "<strong>Trust</strong> was not checked, because the bundle has no valid signature."
        case "counter":
            """
            <strong>The counter</strong> was not compared with earlier ones, so the page does not show whether this bundle \
            was sent before.
            """
        case "time" where stamp != nil:
            "<strong>The time</strong> is a claim of the device. The time stamp shows only that it was not later."
        case "time": "<strong>The time</strong> is a claim of the device. No time stamp proves it."
        case "scene":
            """
            <strong>The scene</strong>: a signature shows which key signed, not what was in front of the lens. A photo of a \
            screen can be signed too.
            """
        case "chain": "<strong>The chain</strong>: the captures before and after this one were not checked."
        default: nil
        }
    }
}

/// A rating of a result. Each tone has a sign of a different shape, so that colour is not needed to tell them apart.
public enum Tone: String, Sendable, CaseIterable {
    case bad
    /// Not trusted, held, or failed so far.
    case doubtful
    /// Waiting or cancelled.
    case neutral
    /// Verified, or uploaded.
    case good

    public func badge(_ words: String) -> HTML { "<span class=\"badge \(name)\">\(sign) \(words)</span>" }

    /// The sign alone. It is hidden from screen readers, so words have to follow it.
    var sign: HTML { "<svg aria-hidden=\"true\" viewBox=\"0 0 16 16\"><use href=\"#\(name)\"/></svg>" }

    /// Problems as a list in the colour of the tone; nothing if there are none.
    public func findings(_ lines: [HTML]) -> HTML? {
        lines.isEmpty ? nil : "<ul class=\"findings \(name)\">\n\(lines.map { "<li>\($0)</li>\n" as HTML })</ul>\n"
    }

    /// A short text in the colour of the tone.
    package func mark(_ words: String) -> HTML { "<span class=\"mark \(name)\">\(words)</span>" }

    var name: HTML { "\(rawValue)" }

    /// The signs: a disc with a tick, a clock, a triangle with an exclamation mark, and an octagon with a cross. A page
    /// defines each of them once.
    static let signs: HTML = """
        <svg class="signs" aria-hidden="true" width="0" height="0">
        <symbol id="good" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="currentColor"/>\
        <path d="M4.5 8.3 7 10.8l4.6-5.2" fill="none" class="cut" stroke-width="1.8"/></symbol>
        <symbol id="neutral" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" \
        stroke-width="1.6"/><path d="M8 4.5V8l2.5 1.6" fill="none" stroke="currentColor" stroke-width="1.6"/></symbol>
        <symbol id="doubtful" viewBox="0 0 16 16"><path d="M8 1.2 15.4 14.6H.6z" fill="currentColor"/>\
        <path d="M8 6v4.4M8 11.6v1.6" class="cut" stroke-width="1.7"/></symbol>
        <symbol id="bad" viewBox="0 0 16 16"><path d="M5 .8h6L15.2 5v6L11 15.2H5L.8 11V5z" fill="currentColor"/>\
        <path d="m5.2 5.2 5.6 5.6m0-5.6-5.6 5.6" class="cut" stroke-width="1.8"/></symbol>
        </svg>

        """
}
