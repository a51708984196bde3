import ArgumentParser
import CaptureBundle
import CommandSupport

/// `--force`, and where a file goes.
struct ForceOption: ParsableArguments {
    @Flag(help: "Replace what is there.")
    var force = false

    /// - Parameter path: `-` is the standard output.
    func place(_ path: String) -> OutputPlace {
        path == "-" ? .standardOutput : force ? .replacing(path) : .file(path)
    }
}

/// Refuses to print bytes that are not for people.
func refuseTerminal(_ path: String, _ what: String) throws {
    if path == "-" && Output.isTerminal {
        throw ValidationError("\(what) is not written to a terminal; give a file to -o, or pipe the output")
    }
}
