import ArgumentParser
package import CaptureBundle
package import SystemPackage

/// The option `--force`, and the output place that follows from it.
package struct ForceOption: ParsableArguments {
    package init() {}

    @Flag(help: "Replace existing files.")
    package var force = false

    /// The place to which the output goes.
    ///
    /// - Parameters:
    ///   - path: `-` means standard output.
    ///   - inputs: The files that the command also reads, such as its key. They are not replaced.
    /// - Throws: `output.unusable`.
    package func place(_ path: String, besides inputs: [FilePath] = []) throws(BundleError) -> OutputPlace {
        guard path != "-" else { return .standardOutput }
        let place = try OutputPlace.named(path, replaces: force)
        try place.refuse(inputs: inputs)
        return place
    }
}

/// Refuses to print binary data to a terminal.
package func refuseTerminal(_ path: String, _ what: String) throws {
    if path == "-" && Output.isTerminal {
        throw ValidationError("\(what) is not written to a terminal; give a file with -o, or pipe the output")
    }
}

package struct JSONOption: ParsableArguments {
    package init() {}

    @Flag(help: "Print JSON on standard output instead of text: one object a line, for each result.")
    package var json = false
}
