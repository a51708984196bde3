/// Words of other tools for our commands and options. A message names our word; nothing is run.
package struct OtherWords: Sendable {
    /// What a person types, and our command for it: `dest rm` and `dest remove`. It may be a command of the other tool.
    package let commands: [String: String]
    /// What a person types, and the hint that replaces the usual one (`see … --help`).
    let hints: [String: String]
    /// What a person types, and our options for it. A message names the first one that the command has.
    let options: [String: [String]] = [
        "--to": ["--dest", "--url", "--output"], "--destination": ["--dest"], "--target": ["--dest"],
        "--remote": ["--dest"],
        "--out": ["--output"], "--outfile": ["--output"], "--type": ["--kind"], "--format": ["--json"],
        "-v": ["--version"], "-V": ["--version"], "--file": ["--output"], "--directory": ["--out-dir"],
        "--status": ["--state"],
        "--silent": ["--quiet"], "--simulate": ["--dry-run"], "--repo": ["--queue"],
    ]

    package init(hints: [String: String], commands: [String: String]) {
        self.commands = commands
        self.hints = hints
    }
}
