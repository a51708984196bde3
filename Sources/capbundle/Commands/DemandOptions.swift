import ArgumentParser
import CaptureBundle
import CommandSupport

/// The requirements for a bundle, and whether anything is printed.
struct DemandOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Parts that must be there, separated by commas.",
            discussion: """
                photo, depth, metadata, location, confidence, source, chain, names of entries as "capbundle show" \
                prints them; plausible: a depth map whose median is 0.05 to 100 m
                """, valueName: "parts"),
        completion: ListCompletion.kind(VerificationPolicy.Part.allCases.map(\.rawValue)))
    var require: String?

    @Flag(help: "Accept bundles from which withholdable entries were taken out.")
    var allowWithheld = false

    @Flag(name: [.short, .long], help: "Print nothing on standard output; the exit code says it all.")
    var quiet = false

    func validate() throws { _ = try policy() }

    func policy() throws -> VerificationPolicy {
        var policy = VerificationPolicy(allowsWithheld: allowWithheld)
        for word in require?.pieces(by: ",", keepsEmpty: true) ?? [] {
            guard policy.require(word) else {
                throw ValidationError("--require: \"\(word)\" is not a part of a bundle, expected \(Self.words)")
            }
        }
        return policy
    }

    private static var words: String {
        let parts = VerificationPolicy.Part.allCases.map(\.rawValue).joined(separator: ", ")
        return "\(parts), \(EntryPath.names.joined(separator: ", ")) or source/NAME"
    }
}
