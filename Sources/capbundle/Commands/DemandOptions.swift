import ArgumentParser
import CaptureBundle
import CommandSupport

/// The requirements for a bundle, and whether anything is printed.
struct DemandOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Parts that must be there, separated by commas.",
            discussion: "photo, depth, metadata, location, confidence, source, chain", valueName: "parts"),
        completion: ListCompletion.kind(VerificationPolicy.Part.allCases.map(\.rawValue)))
    var require: RequiredParts = RequiredParts(parts: [])

    @Flag(help: "Accept bundles from which withholdable entries were taken out.")
    var allowWithheld = false

    @Flag(name: [.short, .long], help: "Print nothing on standard output; the exit code says it all.")
    var quiet = false

    var policy: VerificationPolicy { VerificationPolicy(required: require.parts, allowsWithheld: allowWithheld) }
}

/// The value of `--require`.
struct RequiredParts: ExpressibleByArgument {
    let parts: [VerificationPolicy.Part]

    init(parts: [VerificationPolicy.Part]) { self.parts = parts }

    init?(argument: String) {
        var parts: [VerificationPolicy.Part] = []
        for word in argument.pieces(by: ",", keepsEmpty: true) {
            guard let part = VerificationPolicy.Part(rawValue: word) else { return nil }
            parts.append(part)
        }
        self.parts = parts
    }

    var defaultValueDescription: String { "nothing" }
}
