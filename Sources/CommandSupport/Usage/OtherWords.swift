/// Words that other tools use for what ours do: they are answered with our word, and never run.
package struct OtherWords: Sendable {
    /// What a person types, and the command that does it, which may be one of the other tool: `dest rm`, `dest remove`.
    package let commands: [String: String]
    /// The same for options; the first that the command has is meant.
    let options: [String: [String]] = [
        "--to": ["--dest"], "--destination": ["--dest"], "--target": ["--dest"], "--remote": ["--dest"],
        "--out": ["--output"], "--file": ["--output"], "--directory": ["--out-dir"], "--status": ["--state"],
        "--silent": ["--quiet"], "--simulate": ["--dry-run"], "--repo": ["--queue"],
    ]

    package init(commands: [String: String]) { self.commands = commands }
}
