/// Words of other tools. A message names our command for them; nothing is run.
enum OtherWords {
    /// Our command, and words for it that are not commands of the tool.
    private static let capbundle = [
        "pack": ["create", "make", "seal", "sign", "build"],
        "verify": ["check", "validate", "test", "audit"],
        "show": ["info", "dump", "print"],
        "extract": ["unpack", "open", "get", "cat", "export"],
        "redact": ["withhold", "strip", "hide"],
        "restore": ["reveal", "merge"],
        "stamp": ["timestamp", "tsa"],
        "from-body": ["receive", "unwrap"],
        "key new": ["keygen", "init", "new", "key create", "key generate", "key add"],
        "key show": ["keys", "key list", "key ls", "key info"],
        "key passwd": ["key password", "key passphrase", "key encrypt"],
        "trust set": ["trust edit", "trust update"],
        "capqueue push": ["push", "add", "queue", "send", "upload"],
        "capqueue list": ["list", "ls"],
        "capqueue run": ["run", "sync"],
        "capqueue status": ["status"],
    ]
    private static let capqueue = [
        "push": ["add", "queue", "enqueue", "put", "submit", "upload"],
        "run": ["send", "start", "sync", "flush"],
        "status": ["stat", "metrics", "monitor", "prometheus"],
        "history": ["log", "logs", "events"],
        "get": ["cat", "fetch", "download", "extract"],
        "cancel": ["rm", "remove", "delete", "del", "abort", "drop"],
        "prune": ["clean", "cleanup", "gc", "purge", "clear", "expire"],
        "pause": ["stop", "suspend", "dest pause"],
        "resume": ["continue", "unpause", "dest resume"],
        "check": ["fsck", "scrub", "repair"],
        "salvage": ["rebuild", "recover"],
        "init": ["create", "new", "setup"],
        "dest": ["destination", "destinations", "remote", "remotes"],
        "dest add": ["dest new", "dest create"],
        "dest set": ["dest edit", "dest change", "dest update", "dest config"],
        "dest remove": ["dest rm", "dest delete", "dest del"],
        "dest rename": ["rename", "dest mv"],
        "session end": ["session close", "session stop", "session finish"],
        "capbundle pack": ["pack"],
        "capbundle verify": ["verify"],
        "capbundle key": ["key", "keys"],
        "capbundle trust": ["trust"],
    ]

    /// The command that `words` stand for, with the name of the tool; nil if we do not know them.
    static func command(for words: String, of tool: String) -> String? {
        let table = tool == "capqueue" ? capqueue : capbundle
        guard let command = table.first(where: { $0.value.contains(words) })?.key else { return nil }
        return command.hasPrefix("cap") ? command : "\(tool) \(command)"
    }
}
