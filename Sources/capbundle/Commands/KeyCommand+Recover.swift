import ArgumentParser
import CaptureBundle
import CaptureDevice
import CommandSupport
import SystemPackage

extension KeyCommand {
    struct Recover: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "recover",
            abstract: "Make the key's lost files again: its public half and its state.",
            usage: """
                capbundle key recover [options]
                capbundle key recover --counter N [options]
                capbundle key recover (--last-bundle FILE)... [options]
                """,
            discussion: """
                Without --counter and --last-bundle, makes the public half (.pub) again if it is missing or empty, for \
                example after the key was restored from a backup. This takes the passphrase of an encrypted key. With \
                them, it also makes a lost state again.

                A counter must never be used twice, so give the highest one that this key ever signed with, or a \
                higher one. "capbundle show" prints the counter of a bundle. The next signature gets the counter \
                after it.

                If the key made a chain, give the newest bundle of the chain. "pack --chain" continues after the \
                highest link of the given bundles. If none of them has a chain and the chain is unknown, it begins \
                at link 1: this is right only if the key never packed with --chain. The next counter is higher than \
                all that are given.
                """,
            example: [
                "capbundle key recover",
                "capbundle key recover --counter 4711",
                "capbundle key recover --last-bundle newest.bundle",
                "capbundle key recover --last-bundle new.bundle --last-bundle chained.bundle",
            ])

        @OptionGroup var key: KeyOptions
        @OptionGroup var passphrase: PassphraseOptions

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
            if !lastBundle.isEmpty && isForRealityCam {
                throw ValidationError("--last-bundle does not work with --realitycam: such a key signs no bundle")
            }
            if isForRealityCam && counter == nil { throw ValidationError("--realitycam needs --counter N") }
        }

        func run() throws {
            let bundles = try lastBundle.map { path in
                try DeviceKeyFile.LastBundle(BundleSource(path: FilePath(path)))
            }
            let file = key.file
            let isPublicHalfNew = try file.recoverPublicHalf(passphrase.passphrase(warn: diagnostic.warning))
            if isPublicHalfNew { diagnostic.note("the public half of the key is in \(file.publicPath)") }
            guard counter != nil || !bundles.isEmpty else {
                // If the state is lost, the error says what is needed to make it again.
                _ = try file.state()
                if !isPublicHalfNew { diagnostic.note("nothing is lost: the key has its public half and its state") }
                return
            }
            let recovered = try file.recover(
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
