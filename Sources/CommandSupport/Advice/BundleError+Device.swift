import CaptureBundle
import CaptureDevice
import CaptureNative
import SystemPackage

extension BundleError {
    private static let copying = "replace it with a whole copy of the bundle, from a backup or a server"
    private static let renaming = "if this capture has no bundle yet, choose another name"
    private static let waiting = "the next \"capbundle pack --chain\""

    /// Advice about the device key, its chain and its counter.
    var adviceOnDevice: [String] {
        switch cause {
        case _ where code == .keyCounterUsedUp: ["make a new key with: capbundle key new --key NEWFILE"]
        case .noDeviceKey: ["make one with: capbundle key new\(keyOption(file))"]
        case .passphraseNeeded: ["give it with --passphrase-file FILE or CAPBUNDLE_PASSPHRASE_FILE"]
        case .keyExists: ["a device key is never overwritten; choose another place with --key"]
        case .usedStateExists:
            ["a key signed with this state file: restore that key, move this file away, or choose another --key"]
        case .keyNameTaken:
            ["a new key needs this file name; move the file away, or choose another place with --key"]
        case .severalNames:
            [
                "find the others with: find / -xdev -samefile \(word(path))",
                "keep the name with the highest counter; make the others symbolic links",
            ]
        case .forRealityCam: ["name a device key with --key, or make one: capbundle key new --key NEWFILE"]
        case .forBundles:
            ["make one with: capbundle key new\(keyOption(DeviceKeyFile.usualRealityCamPath.string))"]
        case .noRealityCamBody: ["make a body with: capbundle multipart FILE -o BODY --profile realitycam"]
        case .bundleAsRealityCamBody where file != "-":
            ["to make an upload body from it: capbundle multipart \(word(path)) -o BODY --profile realitycam"]
        case .bodyUsedUp:
            ["make it again with: capbundle multipart FILE -o BODY --force --profile realitycam\(realityCamKeyOption)"]
        default: adviceOnLostFiles + adviceOnHardware + adviceOnChain
        }
    }

    /// The option that names a key, unless it has the default path.
    private func keyOption(_ key: String?) -> String {
        let key = FilePath(key ?? "")
        return key == DeviceKeyFile.usualPath ? "" : " --key \(word(key))"
    }

    /// The option for the RealityCam key, whose path is the value; empty for the default path.
    private var realityCamKeyOption: String {
        guard let key = values.first.map({ FilePath($0) }), key != DeviceKeyFile.usualRealityCamPath else { return "" }
        return " --realitycam-key \(word(key))"
    }

    /// Advice about lost or wrong files of a key, whose path is the value.
    private var adviceOnLostFiles: [String] {
        let key = keyOption(values.first)
        let counter = "capbundle key recover --counter N\(key)"
        switch cause {
        case .halfLost: return ["to make it again: capbundle key recover\(key)"]
        case .otherHalf: return ["move this file away, then make it again: capbundle key recover\(key)"]
        case .otherState:
            return [
                "put the .pub and .state files back beside the key to which they belong",
                "if the right .state file is lost, move this one away, then: \(counter)",
            ]
        case .linkLost:
            return ["give the newest bundle of the chain: capbundle key recover --last-bundle FILE\(key)"]
        case .counterNotHere, .counterLost:
            let begin = "if the key never signed: capbundle key recover --counter 0\(key)"
            return (cause == .counterNotHere ? [begin] : []) + [
                "if the key makes a chain, give its newest bundle: capbundle key recover --last-bundle FILE\(key)",
                "if not, find the highest counter that this key signed with; its newest bundle has it: "
                    + "capbundle show FILE", "then: \(counter)",
            ] + (key.isEmpty ? [] : ["for a key that signs uploads to RealityCam, add --realitycam"])
        default: return []
        }
    }

    /// Advice about a key in hardware, whose name is the file.
    private var adviceOnHardware: [String] {
        let isToken = HardwareKeyURI(path)?.kind == .token
        switch cause {
        case .madeInHardware:
            return [
                isToken
                    ? "pkcs11-tool makes a key in a token" : "tpm2_create and tpm2_evictcontrol make a key in a TPM",
                "if the key never signed: capbundle key recover --counter 0\(keyOption(file))",
            ]
        case .noProvider: return ["Debian has it in the package \(isToken ? "pkcs11-provider" : "tpm2-openssl")"]
        case .noModule:
            return ["set PKCS11_PROVIDER_MODULE to the module's file, or install the package p11-kit-modules"]
        case .noTPM:
            return ["TPM2OPENSSL_TCTI names another TPM than /dev/tpmrm0, which users in the group tss may open"]
        case .noToken: return ["to list the tokens: pkcs11-tool -L, or p11tool with p11-kit"]
        case .noTokenNamed: return ["add the name or the number of the token: token=NAME or serial=NUMBER"]
        case .severalKeys: return ["add the label or the id of the key: object=LABEL or id=%01"]
        case .pinNotAskedFor: return ["name the key as \(ShellWord.quote("\(file ?? "")?pass"))"]
        case .pinLocked: return ["tpm2_dictionarylockout ends this"]
        default: return []
        }
    }

    private var adviceOnChain: [String] {
        switch cause {
        case .isLink: ["choose another name; if this is the bundle of the same capture, use --chain instead"]
        case .linkOfOther: ["to see what it holds: capbundle show \(word(path))", Self.renaming]
        case .damagedLink: ["to see what is wrong: capbundle verify \(word(path))", Self.copying]
        case .maybeDamagedLink: ["to see what is wrong: capbundle verify \(word(path))", Self.copying, Self.renaming]
        case .maybeLink: ["choose another name, or move it away if you know what it is"]
        case .linkPending:
            ["link \(values.first ?? "") is given out; \(Self.waiting) with this key finishes the bundle"]
        case .linkNameTaken: ["move the other file away; \(Self.waiting) then finishes the bundle"]
        case .pendingNameTaken: ["move the other file away, and pack again: mv -n \(word(path)) NEWNAME"]
        case .pendingFolderMissing:
            [
                "bring it back, for example mount its disk, and pack again",
                "if it is gone for good, make an empty folder there: mkdir -p \(word(path)); its links then count as lost",
            ]
        case .linkTwice: ["the key was copied, or its state was restored from a backup: make a new key"]
        default: []
        }
    }
}
