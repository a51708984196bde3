import ArgumentParser
import CaptureBundle

/// The options for the source of file names, and for the number of files that are processed at the same time.
struct NameOptions: ParsableArguments {
    @Flag(name: .customLong("from0"), help: "Read names from standard input, each followed by NUL (find -print0).")
    var from0 = false

    @Option(
        help: ArgumentHelp(
            "How many to process at the same time.", discussion: "Default: one for each processor.", valueName: "number"
        ))
    var jobs: Int?

    /// The error for an empty list of names: a pipeline that passes no names is probably wrong, so this is not a
    /// success.
    static let noNames = BundleError(
        .noNames, "no names were read, expected names that end with NUL", file: "standard input")

    /// - Parameter takesPipe: Whether `-` means standard input, which can be read only once.
    func validate(names: [String], of noun: String, takesPipe: Bool = true) throws {
        if from0 && !names.isEmpty { throw ValidationError("give either names or --from0, not both") }
        if !from0 && names.isEmpty { throw ValidationError("give at least one \(noun), or --from0") }
        if let jobs, !(1...1024).contains(jobs) { throw ValidationError("--jobs is \(jobs), expected 1 to 1024") }
        if takesPipe && names.count(where: { $0 == "-" }) > 1 {
            throw ValidationError("- means standard input and can be given only once")
        }
    }
}
