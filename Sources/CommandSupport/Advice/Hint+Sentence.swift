package import CaptureBundle
import CaptureDevice
import SystemPackage

extension Hint {
    /// The advice with our commands and options.
    package var sentence: String {
        switch self {
        case .words(let wording): wording.text(naming: \.option)
        case .set(let setting): setting.advice
        case .key(let advice): advice.sentence
        case .raw(.pack(let folder)):
            "\(word(folder)) is a raw capture; to make a bundle from it: capbundle pack \(word(folder)) -o FILE"
        case .raw(.packFolder): "to make a bundle from a raw folder: capbundle pack RAW -o FILE"
        case .verify(let file, .faults): "list all faults with: capbundle verify \(word(file))"
        case .verify(let file, .damage): "to see what is wrong: capbundle verify \(word(file))"
        case .verify(let file, .isInFolder): "it holds a bundle; to check it: capbundle verify \(word(file))"
        case .verifyAll(let folder, let count):
            "it holds \(count) bundles; to check them: capbundle verify \(folder == "/" ? "" : word(folder))/*.bundle"
        case .show(let file): "to see what it holds: capbundle show \(word(file))"
        case .restore(let body):
            "to restore the bundle from this upload body: capbundle from-body \(word(body)) -o FILE"
        case .makeBody(let bundle, let isForRealityCam):
            "to make an upload body from it: capbundle multipart \(word(bundle)) -o BODY"
                + (isForRealityCam ? " --profile realitycam" : "")
        case .makeRealityCamBody(replaces: false):
            "make a body with: capbundle multipart FILE -o BODY --profile realitycam"
        case .makeRealityCamBody(replaces: true):
            "make it again with: capbundle multipart FILE -o BODY --force --profile realitycam"
        case .trustKey(let file): "to trust it: capbundle trust add NAME \(word(file))"
        case .trustDevice(let bundle):
            "to take the key out of a bundle: capbundle trust add NAME --from \(word(bundle))"
        case .limitTrust(let name):
            "to change how long it is trusted: capbundle trust set \(name) --valid-before TIME"
        case .withhold(let entries): "withhold it too: --withhold \(entries)"
        case .finishLink(let seq):
            "link \(seq) is given out; the next \"capbundle pack --chain\" with this key finishes the bundle"
        case .finishLinkElsewhere:
            "move the other file away; the next \"capbundle pack --chain\" then finishes the bundle"
        }
    }
}

extension Hint.Key {
    fileprivate var sentence: String {
        switch self {
        case .make(insteadOfSecret: false): "to make a device key: capbundle key new"
        case .make(insteadOfSecret: true): "keep it secret; to make a device key: capbundle key new"
        case .makeMissing(let key): "make one with: capbundle key new\(option(key))"
        case .makeForBundles: "make a device key with: capbundle key new"
        case .makeNext: "make a new key with: capbundle key new --key NEWFILE"
        case .print(isOther: false): "to print one on the device: capbundle key public"
        case .print(isOther: true): "to print the right key on the device: capbundle key public"
        case .recoverHalf(let key, isOther: false): "to make it again: capbundle key recover\(option(key))"
        case .recoverHalf(let key, isOther: true):
            "move this file away, then make it again: capbundle key recover\(option(key))"
        case .recoverMissingHalf(let key, let half):
            "to get its public half, in \(word(half)): capbundle key recover --key \(word(key))"
        case .recoverChain(let key, isCounterLost: false):
            "give the newest bundle of the chain: capbundle key recover --last-bundle FILE\(option(key))"
        case .recoverChain(let key, isCounterLost: true):
            "if the key makes a chain, give its newest bundle: capbundle key recover --last-bundle FILE\(option(key))"
        case .findCounter:
            "if not, find the highest counter that this key signed with; its newest bundle has it: capbundle show FILE"
        case .beginCounter(let key): "if the key never signed: capbundle key recover --counter 0\(option(key))"
        case .recoverCounter(let key, isOther: false): "then: capbundle key recover --counter N\(option(key))"
        case .recoverCounter(let key, isOther: true):
            "if the right .state file is lost, move this one away, then: capbundle key recover --counter N\(option(key))"
        case .recoverForRealityCam: "for a key that signs uploads to RealityCam, add --realitycam"
        }
    }

    /// The option that names the key, unless it has the default path.
    private func option(_ key: FilePath) -> String { key == DeviceKeyFile.usualPath ? "" : " --key \(word(key))" }
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
