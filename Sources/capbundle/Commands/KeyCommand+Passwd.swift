import ArgumentParser
import CaptureBundle
import CaptureDevice
import CommandSupport

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

                Example:
                  capbundle key passwd
                  capbundle key passwd --passphrase-file old.txt --new-passphrase-file new.txt
                """)

        @OptionGroup var key: KeyOptions
        @OptionGroup var passphrase: PassphraseOptions

        @Option(
            help: ArgumentHelp("A file whose first line is the new passphrase.", valueName: "file"),
            completion: .file())
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
                return try PassphrasePrompt.askForNew(advice: [
                    "to read it from a file: --new-passphrase-file FILE",
                    "to store the key unencrypted: --remove",
                ])
            }
            diagnostic.note(
                isRemoving ? "\(file.path) is stored unencrypted" : "\(file.path) opens with the new passphrase")
        }
    }
}
