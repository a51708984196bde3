package import CaptureBundle
import SystemPackage

extension Hint {
    /// The advice with our commands and options.
    package var sentence: String {
        switch self {
        case .words(let wording): wording.text(naming: \.option)
        case .set(let setting): setting.advice
        case .raw(.pack(let folder)):
            "\(word(folder)) is a raw capture; to make a bundle from it: capbundle pack \(word(folder)) -o FILE"
        case .raw(.packFolder): "to make a bundle from a raw folder: capbundle pack RAW -o FILE"
        case .verify(let file, .faults): "list all faults with: capbundle verify \(word(file))"
        case .verify(let file, .damage): "to see what is wrong: capbundle verify \(word(file))"
        case .verify(let file, .isInFolder): "it holds a bundle; to check it: capbundle verify \(word(file))"
        case .verifyAll(let folder, let count):
            "it holds \(count) bundles; to check them: capbundle verify \(folder == "/" ? "" : word(folder))/*.bundle"
        case .restore(let body):
            "to restore the bundle from this upload body: capbundle from-body \(word(body)) -o FILE"
        case .makeBody(let bundle, let isForRealityCam):
            "to make an upload body from it: capbundle multipart \(word(bundle)) -o BODY"
                + (isForRealityCam ? " --profile realitycam" : "")
        case .trustKey(let file): "to trust it: capbundle trust add NAME \(word(file))"
        case .trustDevice(let bundle):
            "to take the key out of a bundle: capbundle trust add NAME --from \(word(bundle))"
        case .limitTrust(let name):
            "to change how long it is trusted: capbundle trust set \(name) --valid-before TIME"
        case .withhold(let entries): "withhold it too: --withhold \(entries)"
        }
    }
}

}

extension Setting {
    fileprivate var advice: String {
        switch self {
        case .passphraseFile: "give it with --passphrase-file FILE or CAPBUNDLE_PASSPHRASE_FILE"
        case .replaces: "use --force to replace it"
        default: "give it: \(option)"
        }
    }
}

private func word(_ path: FilePath) -> String { ShellWord.quote(path) }
