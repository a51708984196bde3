import ArgumentParser
import CaptureBundle
import CommandSupport

extension TrustCommand {
    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Change from when, until when or how you trust a device.",
            usage: "capbundle trust set DEVICE [options]",
            discussion: """
                Changes the line of the device in the trust file, and no other. An empty time removes the limit. \
                A --level other than apple-appattest removes the App ID.
                """,
            example: [
                "capbundle trust set my-rig --valid-before 2026-06-01",
                "capbundle trust set my-rig --valid-before ''",
            ])

        @Argument(help: "Its name, or its key id if several lines have that name.")
        var device: String

        @Option(help: "How the device keeps its key: software, token, tpm or apple-appattest.")
        var level: TrustLevel?

        @OptionGroup var limits: TrustLimitOptions
        @OptionGroup var trust: ChangedTrustOptions
        @OptionGroup var format: JSONOption

        func validate() throws {
            guard level != nil || limits.rpid != nil || limits.validAfter != nil || limits.validBefore != nil else {
                throw ValidationError("give --valid-after, --valid-before, --level or --rpid")
            }
        }

        func run() throws {
            let (after, before) = try readingOptions {
                (try Self.limit(limits.validAfter), try Self.limit(limits.validBefore))
            }
            let appID = try limits.appID()
            let path = try trust.pathToChange(warn: diagnostic.warning)
            let changed = try TrustFile.update(path: path) { file in
                try file.set(device) { line in
                    if let level { line.level = level }
                    if let level, level != .appleAppAttest { line.rpID = nil }
                    if let appID { line.rpID = appID }
                    if let after { line.validAfter = after }
                    if let before { line.validBefore = before }
                    try Self.check(line)
                }
            }
            let text = "\(changed.name)  \(changed.summary())  \(changed.point.keyID)"
            try format.json ? Output.json(changed.json()) : Output.line(text)
            diagnostic.note("changed in \(path)")
        }

        /// - Returns: nil if the limit stays as it is; a nil inside if it is removed.
        private static func limit(_ text: String?) throws -> CaptureTime?? {
            guard let text else { return nil }
            return .some(text.utf8.isEmpty ? nil : try TrustedDeviceLine.time(text))
        }

        /// What was given may contradict what the line says already.
        private static func check(_ line: TrustedDeviceLine) throws {
            guard (line.level == .appleAppAttest) == (line.rpID != nil) else {
                throw BundleError(
                    .trustName,
                    line.rpID == nil
                        ? "\(line.name) has no App ID; give --rpid with --level apple-appattest"
                        : "\(line.name) has the level \(line.level.rawValue); give --level apple-appattest with --rpid")
            }
            if let after = line.validAfter, let before = line.validBefore, after >= before {
                throw BundleError(
                    .trustName, "\(line.name) would be trusted from \(after) until \(before), which is never")
            }
        }
    }
}

/// The optional fields of a line of the trust file: App ID and period.
struct TrustLimitOptions: ParsableArguments {
    @Option("The App ID of an Apple key, TEAMID.bundle.id.", value: "appid")
    var rpid: String?

    @Option("Trust only captures from this time on (a date, or a time with a zone).", value: "time")
    var validAfter: String?

    @Option("Trust only captures before this time.", value: "time")
    var validBefore: String?

    /// The period, for a line that is new.
    func times() throws -> (after: CaptureTime?, before: CaptureTime?) {
        let (after, before) = try readingOptions {
            (try validAfter.map(TrustedDeviceLine.time), try validBefore.map(TrustedDeviceLine.time))
        }
        if let after, let before, after >= before {
            throw ValidationError("--valid-after must be earlier than --valid-before")
        }
        return (after, before)
    }

    func appID() throws -> TrustedDeviceLine.RelyingPartyID? {
        try readingOptions { try rpid.map(TrustedDeviceLine.RelyingPartyID.init) }
    }
}

/// Reads what options say. A fault in it is a fault of usage.
func readingOptions<Value>(_ read: () throws -> Value) throws -> Value {
    do { return try read() } catch let error as BundleError { throw ValidationError(error.message) }
}
