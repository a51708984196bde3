import ArgumentParser
import CaptureBundle

/// The optional fields of a line of the trust file: App ID and period.
struct TrustLimitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The App ID of an Apple key, TEAMID.bundle.id.", valueName: "appid"))
    var rpid: String?

    @Option(
        help: ArgumentHelp("Trust only captures from this time on (a date, or a time with a zone).", valueName: "time"))
    var validAfter: String?

    @Option(help: ArgumentHelp("Trust only captures before this time.", valueName: "time"))
    var validBefore: String?

    /// The period, for a line that is new.
    func times() throws -> (after: CaptureTime?, before: CaptureTime?) {
        let after: CaptureTime?, before: CaptureTime?
        do {
            (after, before) = (try validAfter.map(TrustedDeviceLine.time), try validBefore.map(TrustedDeviceLine.time))
        } catch {
            throw ValidationError(error.message)
        }
        if let after, let before, after >= before {
            throw ValidationError("--valid-after must be earlier than --valid-before")
        }
        return (after, before)
    }
}
