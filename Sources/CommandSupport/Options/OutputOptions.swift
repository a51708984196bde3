import ArgumentParser
package import CaptureBundle
import CaptureNative
package import SystemPackage

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

/// A folder that a user named. With a slash at its end, a symbolic link stands for the folder that it leads to.
package func folder(named text: String) -> FilePath {
    let path = FilePath(text)
    return text.utf8.last == UInt8(ascii: "/") && FileStatus.isLink(path) ? path.resolved : path
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
