import ArgumentParser
package import CaptureBundle

/// The option `--force`, and the output place that follows from it.
package struct ForceOption: ParsableArguments {
    package init() {}

    @Flag(help: "Replace existing files.")
    package var force = false

    /// The place to which the output goes.
    ///
    /// - Parameter path: `-` means standard output.
    /// - Throws: `output.unusable`.
    package func place(_ path: String) throws(BundleError) -> OutputPlace {
        path == "-" ? .standardOutput : try .named(path, replaces: force)
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
