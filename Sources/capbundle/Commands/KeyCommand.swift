import ArgumentParser
import CaptureBundle
import CaptureDevice
import CommandSupport
import SystemPackage

struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Make and show the device key.",
        discussion: """
            Example:
              capbundle key new
              capbundle key public > my-rig.pem
            """,
        subcommands: [New.self, Show.self, Public.self, Recover.self])

    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new",
            abstract: "Make a device key, without overwriting an existing one.",
            usage: "capbundle key new [options]",
            discussion: """
                Prints the key id. To trust the key, run "capbundle trust add" on each machine that verifies bundles.

                Example:
                  capbundle key new --passphrase-file secret.txt
                """)

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
                ? PassphrasePrompt.askForNew()
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
            discussion: """
                Needs no passphrase.

                Example:
                  capbundle key show
                """)

        @OptionGroup var key: KeyOptions
        @OptionGroup var format: JSONOption

        func run() throws {
            let state = try key.file.state()
            let hasChain = state.chain != ChainRecord()
            if format.json {
                try Output.json(
                    .members([
                        "chain": hasChain ? state.chain.json : nil, "counter": .integer(Int(state.counter)),
                        "key_id": .string(state.keyID.description),
                        "path": .string(key.file.path.string),
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

                Example:
                  capbundle key public > my-rig.pem
                  capbundle key public --format jwk
                """)

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

    struct Recover: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "recover",
            abstract: "Make a new state file for the key after it was lost or damaged.",
            usage: """
                capbundle key recover --counter N [options]
                capbundle key recover (--last-bundle FILE)... [options]
                """,
            discussion: """
                A counter must never be used twice, so give the highest one that this key ever signed with, or a \
                higher one. "capbundle show" prints the counter of a bundle. The next signature gets the counter \
                after it.

                If the key made a chain, give the newest bundle of the chain. "pack --chain" continues after the \
                highest link of the given bundles. If none of them has a chain and the chain is unknown, it begins \
                at link 1: this is right only if the key never packed with --chain. The next counter is higher than \
                all that are given.

                Example:
                  capbundle key recover --counter 4711
                  capbundle key recover --last-bundle newest.bundle
                  capbundle key recover --last-bundle new.bundle --last-bundle chained.bundle
                """)

        @OptionGroup var key: KeyOptions

        @Option(help: "The highest counter that was ever used with this key.")
        var counter: UInt32?

        @Option(
            help: ArgumentHelp(
                "A bundle that this key signed: give its newest one, and the newest one of its chain if that is "
                    + "another.",
                discussion: "Can be given several times.", valueName: "file"),
            completion: .file())
        var lastBundle: [String] = []

        @Flag(name: .customLong("realitycam"), help: "The key signs uploads to RealityCam, not bundles.")
        var isForRealityCam = false

        func validate() throws {
            if counter == nil && lastBundle.isEmpty {
                throw ValidationError("give --counter N, --last-bundle FILE, or both")
            }
            if !lastBundle.isEmpty && isForRealityCam {
                throw ValidationError("--last-bundle does not work with --realitycam: such a key signs no bundle")
            }
        }

        func run() throws {
            let bundles = try lastBundle.map { path throws(BundleError) in
                try DeviceKeyFile.LastBundle(BundleSource(path: FilePath(path)))
            }
            let recovered = try key.file.recover(
                counter: counter, lastBundles: bundles, isForRealityCam: isForRealityCam)
            let counter = recovered.state.counter
            if counter < UInt32.max {
                diagnostic.note("the next signature gets counter \(counter + 1)")
            } else {
                diagnostic.note("\(counter) is the last counter: this key cannot sign any more")
            }
            if let end = recovered.state.chain.end, end.seq > 0 {
                diagnostic.note("the next link of the chain is \(end.seq + 1)")
            }
            if recovered.startsChain {
                diagnostic.warning(
                    "no given bundle has a chain, so the next pack --chain starts at link 1: this is right only if "
                        + "the key never packed with --chain",
                    hints: [
                        "otherwise run this command again with the newest bundle of the chain, before you pack with "
                            + "--chain"
                    ])
            }
            if recovered.isNewSalt {
                diagnostic.note(
                    "the secret salt for positions is new: packing an old capture again gives other bytes")
            }
        }
    }
}

extension ChainRecord {
    /// The chain in `key show --json` (Spec/command-line.md section 3).
    fileprivate var json: JSONValue {
        .members([
            "pending": pending.isEmpty ? nil : .array(pending.map(Self.json)),
            "seq": last.map { .integer($0.seq) },
        ])
    }

    private static func json(_ pending: PendingLink) -> JSONValue {
        .members([
            "seq": .integer(pending.link.seq), "target": pending.files.map { .string($0.target.string) },
        ])
    }
}
