import ArgumentParser
import CaptureBundle
import CommandSupport

/// The options for the requirements for a bundle.
struct PolicyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Parts that a bundle must contain, separated by commas.",
            discussion: """
                photo, depth, metadata, location, confidence, source, chain, or the name of an entry as \
                "capbundle show" prints it; plausible requires a depth map whose median is 0.05 to 100 m; exif \
                requires a photo whose EXIF agrees with the metadata; time requires a good time stamp (only with verify \
                --stamp or --stamps); fresh requires a bundle that the folder of \
                --state has not accepted before (only with verify --state)
                """, valueName: "parts"),
        completion: ListCompletion.kind(VerificationPolicy.Part.allCases.map(\.rawValue)))
    var require: [String] = []

    @Flag(help: "Accept bundles from which withholdable entries were removed.")
    var allowWithheld = false

    func validate() throws { _ = try policy() }

    func policy() throws -> VerificationPolicy {
        var policy = VerificationPolicy(allowsWithheld: allowWithheld)
        for word in require.flatMap({ $0.pieces(by: ",", keepsEmpty: true) }) {
            guard policy.require(word) else {
                throw ValidationError("--require: \"\(word)\" is not a part of a bundle, expected \(Self.words)")
            }
        }
        return policy
    }

    /// Whether `fresh` is required, which needs a state.
    var requiresFresh: Bool { (try? policy())?.required.contains(.fresh) ?? false }

    /// Refuses `fresh` and `time`, for a command that keeps no state and reads no time stamps.
    func refuseFreshAndTime() throws {
        if requiresFresh { throw ValidationError("--require fresh works only with: capbundle verify --state DIR") }
        if (try? policy())?.required.contains(.time) ?? false {
            throw ValidationError("--require time works only with: capbundle verify --stamp FILE, or --stamps")
        }
    }

    private static var words: String {
        let parts = VerificationPolicy.Part.allCases.map(\.rawValue).joined(separator: ", ")
        return "\(parts), \(EntryPath.names.joined(separator: ", ")) or source/NAME"
    }
}
