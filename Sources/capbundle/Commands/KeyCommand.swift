import ArgumentParser
import CaptureBundle
import CaptureDevice
import CommandSupport
import SystemPackage

struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Make, show and recover the device key, and change its passphrase.",
        example: ["capbundle key new", "capbundle key public > my-rig.pem"],
        subcommands: [New.self, Show.self, Public.self, Passwd.self, Recover.self])

    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new",
            abstract: "Make a device key, without overwriting an existing one.",
            usage: "capbundle key new [options]",
            discussion: """
                Prints the key id. To trust the key, run "capbundle trust add" on each machine that verifies bundles.
                """,
            example: ["capbundle key new --passphrase-file secret.txt"])

        @OptionGroup var key: KeyOptions
        @OptionGroup var passphrase: PassphraseOptions

        @Flag(name: .customLong("passphrase"), help: "Ask for a passphrase on the terminal.")
        var asks = false

        @OptionGroup var format: JSONOption

        func validate() throws {
            if asks && passphrase.passphraseFile != nil {
                throw ValidationError("give either --passphrase or --passphrase-file")
            }
        }

        func run() throws {
            let file = key.file
            let sealing =
                try asks
                ? PassphrasePrompt.readNew(advice: [
                    "to type it on a terminal: --passphrase", "to read it from a file: --passphrase-file FILE",
                ])
                : PassphraseFile.read(passphrase.passphraseFile, warn: diagnostic.warning)
            let device = try file.create(passphrase: sealing)
            let keyID = device.point.keyID.description
            try format.json
                ? Output.json(.members(["key_id": .string(keyID), "path": .string(file.path.string)]))
                : Output.line(keyID)
            diagnostic.note("the key is in \(file.path)")
            diagnostic.note(
                "to trust it here", command: "capbundle trust add NAME \(ShellWord.quote(file.publicPath))")
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Print the key id and the counter.",
            discussion: "Needs no passphrase.",
            example: ["capbundle key show"])

        @OptionGroup var key: KeyOptions
        @OptionGroup var format: JSONOption

        func run() throws {
            let state = try key.file.state()
            let hasChain = state.chain != ChainRecord()
            if format.json {
                try Output.json(
                    .members([
                        "chain": hasChain ? state.chain.json : nil, "counter": .count(state.counter),
                        "key_id": .text(state.keyID), "path": .string(key.file.path.string),
                    ]))
                return
            }
            var table = TextTable()
            table.add("key", Visible.text(key.file.path.string))
            table.add("key id", state.keyID.description)
            table.add("counter", state.counter == 0 ? "0 (nothing signed yet)" : String(state.counter))
            if hasChain {
                table.add("chain", state.chain.last.map { "\($0.seq)" } ?? "unknown")
                for pending in state.chain.pending {
                    let target = pending.files?.target.string ?? "standard output"
                    table.add("pending", "\(pending.link.seq) \(Visible.text(target))")
                }
            }
            for line in table.lines { try Output.line(line) }
        }
    }

    struct Public: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "public",
            abstract: "Print the public key, as PEM or as a JSON Web Key.",
            discussion: """
                Others need the public key to trust the device. Needs no passphrase. The kid of a JSON Web Key is the \
                key id.
                """,
            example: ["capbundle key public > my-rig.pem", "capbundle key public --format jwk"])

        enum Format: String, ExpressibleByArgument, CaseIterable { case pem, jwk }

        @OptionGroup var key: KeyOptions

        @Option(help: "pem (SubjectPublicKeyInfo) or jwk (RFC 7517).")
        var format: Format = .pem

        func run() throws {
            let point = try key.file.publicKey()
            switch format {
            case .pem: try Output.write(point.pem())
            case .jwk: try Output.json(point.jwk)
            }
        }
    }
}

extension ChainRecord {
    /// The chain in `key show --json` (Spec/command-line.md section 3).
    fileprivate var json: JSONValue {
        .members([
            "pending": pending.isEmpty ? nil : .array(pending.map(Self.json)),
            "seq": .count(last?.seq),
        ])
    }

    private static func json(_ pending: PendingLink) -> JSONValue {
        .members([
            "seq": .integer(pending.link.seq), "target": .text(pending.files?.target.string),
        ])
    }
}

extension KeyCommand {
    struct Passwd: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "passwd",
            abstract: "Set, change or remove the passphrase of the key.",
            usage: """
                capbundle key passwd [options]
                capbundle key passwd --remove [options]
                """,
            discussion: """
                Asks on the terminal for each passphrase that no file gives. The key is replaced in one step, and stays \
                the same key. Backups and other copies of it still open with the old passphrase.
                """,
            example: [
                "capbundle key passwd",
                "capbundle key passwd --passphrase-file old.txt --new-passphrase-file new.txt",
            ])

        @OptionGroup var key: KeyOptions
        @OptionGroup var passphrase: PassphraseOptions

        @Option("A file whose first line is the new passphrase.", value: "file", completion: .file())
        var newPassphraseFile: String?

        @Flag(help: "Store the key unencrypted.")
        var remove = false

        func validate() throws {
            if remove && newPassphraseFile != nil {
                throw ValidationError("give either --new-passphrase-file or --remove")
            }
        }

        func run() throws {
            let file = key.file
            let isRemoving = remove
            let given = try newPassphraseFile.flatMap { try PassphraseFile.read($0, warn: diagnostic.warning) }
            let old = try passphrase.passphrase(warn: diagnostic.warning)
            try file.changePassphrase(old) {
                if isRemoving { return nil }
                if let given { return given }
                return try PassphrasePrompt.readNew(advice: [
                    "to read it from a file: --new-passphrase-file FILE",
                    "to store the key unencrypted: --remove",
                ])
            }
            diagnostic.note(
                isRemoving ? "\(file.path) is stored unencrypted" : "\(file.path) opens with the new passphrase")
        }
    }
}
