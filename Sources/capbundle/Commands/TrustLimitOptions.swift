import ArgumentParser

/// The optional fields of a line of the trust file: App ID and period.
struct TrustLimitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The App ID of an Apple key, TEAMID.bundle.id.", valueName: "appid"))
    var rpid: String?

    @Option(
        help: ArgumentHelp("Trust only captures from this time on (a date, or a time with a zone).", valueName: "time"))
    var validAfter: String?

    @Option(help: ArgumentHelp("Trust only captures before this time.", valueName: "time"))
    var validBefore: String?
}
