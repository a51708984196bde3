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
        case .raw(let advice): advice.sentence
        case .verify(let file, .faults): "list all faults with: capbundle verify \(word(file))"
        case .verify(let file, .damage): "to see what is wrong: capbundle verify \(word(file))"
        case .verify(let file, .isPacked): "it is packed already; to check it: capbundle verify \(word(file))"
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

extension Hint.Raw {
    fileprivate var sentence: String {
        switch self {
        case .pack(let folder):
            "\(word(folder)) is a raw capture; to make a bundle from it: capbundle pack \(word(folder)) -o FILE"
        case .packFolder: "to make a bundle from a raw folder: capbundle pack RAW -o FILE"
        case .forms: "RAW is a folder, an archive, or a photo with its depth map inside; see capbundle pack --help"
        case .packAll(let folder):
            "it contains raw folders; to pack them all: capbundle pack \(word(folder))/* --out-dir BUNDLES"
        case .packSome(let folder, let count, let all):
            "of the \(all) files and folders in it, \(count) \(count == 1 ? "is a raw folder" : "are raw folders"); "
                + "to pack only \(count == 1 ? "it" : "them"): find \(word(folder)) -mindepth 2 -maxdepth 2 "
                + "-name photo.jpg -printf '%h\\0' | capbundle pack --from0 --out-dir BUNDLES"
        case .packFrames: "to pack them all, give --out-dir BUNDLES instead of -o FILE"
        case .packFrame(let number): "to pack one of them: --frames \(number)"
        case .packMatching(
            let folder, let count, let photo, let depth, let isMany, let times, let limit, let convertsPhoto):
            "it has \(count == 1 ? "a photo with its depth map" : "\(count) photos with their depth maps"); to pack: "
                + [
                    "capbundle pack \(word(folder)) --photo \(ShellWord.quote(photo)) --depth \(ShellWord.quote(depth))",
                    "--depth-scale METRES", times?.options, limit.map { "--match-within \($0)" },
                    convertsPhoto ? "--convert-photo" : nil, "--device-model NAME",
                    isMany ? "--out-dir BUNDLES" : "-o FILE",
                ].compactMap(\.self).joined(separator: " ")
        case .chooseDepth(let path):
            "keep one of them, or choose one: capbundle pack RAW --photo photo.jpg --depth \(path)"
        case .convertPhoto(let folder, let isNext):
            (isNext ? "then " : "") + "to make a JPEG of this one and carry the original: "
                + "capbundle pack \(word(folder)) --convert-photo -o FILE"
        case .packScan(let folder):
            "then, with one time for all frames: capbundle pack \(folder.map(word) ?? "SCAN") --photo 'rgb/*.jpg' "
                + "--depth 'depth/*.png' --confidence 'confidence/*.png' --depth-unit mm --captured-at TIME "
                + "--same-time --device-model MODEL --out-dir BUNDLES"
        case .exportRecording:
            "in Record3D, export the recording as \"EXR + RGB\", and pack that folder: "
                + "capbundle pack FOLDER --captured-at TIME --out-dir BUNDLES"
        case .give(let setting, let member): setting.advice + (member.map { " or \($0) in metadata.json" } ?? "")
        case .chooseChannel(let name):
            "to take one: --depth-channel \(name.isEmpty ? "NAME" : ShellWord.quote(name))"
        case .scaleMeant(let scale):
            "it is the number of metres in one unit\(scale.map { ": --depth-scale \($0)" } ?? "")"
        case .giveDepthSize: "add it, or give the size with --depth-size WIDTHxHEIGHT"
        case .readTimes(let times, let words): "the name is \(words): \(times.options)"
        case .giveFirstTime:
            "give the time of its first frame, from which the other times are computed: \(time)"
        case .shareTime(let givesToo):
            "if one time is right for all frames: \(givesToo ? "--captured-at TIME " : "")--same-time"
        }
    }
}

extension Hint.Times {
    fileprivate var options: String { "--time-from-name \(form)\(needsZone ? " \(zone)" : "")" }
}

extension Setting {
    fileprivate var advice: String {
        switch self {
        case .capturedAt: "give it: \(time)"
        case .convertsPhoto: "to make a JPEG of it and carry the original: --convert-photo"
        case .depthSize: "give them: --depth-size WIDTHxHEIGHT"
        case .depthUnit: "give the unit: --depth-unit m, --depth-unit mm or --depth-scale METRES"
        case .deviceModel: "give it: --device-model NAME"
        case .keepsPhotoLocation: "to pack it anyway: --keep-photo-location"
        case .passphraseFile: "give it with --passphrase-file FILE or CAPBUNDLE_PASSPHRASE_FILE"
        case .photoPattern:
            "other folders need the names of their files: --photo PATTERN --depth PATTERN --depth-unit m|mm"
        case .replaces: "use --force to replace it"
        case .rewritesPhoto: "to drop this without encoding the photo again: --rewrite-photo"
        case .timeZone: "give the time zone: \(zone)"
        case .withoutDepth: "use --no-depth to pack a capture without a depth map"
        default: "give it: \(option)"
        }
    }
}

private let time = "--captured-at TIME, such as 2026-03-14T15:09:26+01:00"
private let zone = "--time-zone +HH:MM"

private func word(_ path: FilePath) -> String { ShellWord.quote(path) }
