import ArgumentParser
package import CaptureBundle
import CaptureNative
import SystemPackage

/// `--force`, and where a file goes.
package struct ForceOption: ParsableArguments {
    package init() {}

    @Flag(help: "Replace what is there.")
    package var force = false

    /// - Parameter path: `-` is the standard output.
    /// - Throws: `output.unusable`.
    package func place(_ path: String) throws(BundleError) -> OutputPlace {
        path == "-" ? .standardOutput : try .named(path, replaces: force)
    }
}

/// Refuses to print bytes that are not for people.
package func refuseTerminal(_ path: String, _ what: String) throws {
    if path == "-" && Output.isTerminal {
        throw ValidationError("\(what) is not written to a terminal; give a file to -o, or pipe the output")
    }
}

/// `--json`.
package struct JSONOption: ParsableArguments {
    package init() {}

    @Flag(help: "Print JSON instead of text.")
    package var json = false
}
