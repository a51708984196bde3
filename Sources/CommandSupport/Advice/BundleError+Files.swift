package import CaptureBundle
import CaptureNative
package import SystemPackage

extension BundleError {
    var path: FilePath { FilePath(file ?? "") }

    /// Advice about files, folders, keys to trust and entries of a bundle.
    var adviceOnFiles: [String] {
        switch cause {
        case .replaceable: ["use --force to replace it"]
        case .otherPage: ["choose another name, or remove the file"]
        case .folderMissing: ["to make it: mkdir -p \(word(path.folder))"]
        case .folderIsLink: ["to use the folder that the link points to, add a slash to the name"]
        case .temporaryFolder: ["choose another folder for temporary files: export TMPDIR=FOLDER"]
        case .isFolder: FolderContents(path)?.advice ?? []
        case .openToOthers:
            switch code {
            case .keyOpenToOthers: ["chmod 600 \(word(path))"]
            case .trustOpenToOthers: ["check the trust file, then: chmod go-w \(word(path))"]
            default: ["chmod go-w \(word(path))"]
            }
        case .otherKind where file != "-":
            switch code {
            case .containerMagic: FileKind(file: path)?.adviceInsteadOfABundle(path) ?? []
            case .bodyBoundary where FileKind(file: path)?.family == .bundle:
                ["to make an upload body from it: capbundle multipart \(word(path)) -o BODY"]
            default: []
            }
        case .unsound: ["list all faults with: capbundle verify \(word(path))"]
        case .emptyPipe: ["see what the command before the pipe printed; it wrote no bytes"]
        case .recordCut:
            [
                "restore the folder from a backup",
                "without a backup, give a new folder to --state; it remembers nothing that was verified before",
            ]
        case .advised: values
        default: adviceOnKeys + adviceOnTrust + adviceOnParts
        }
    }

    /// Advice about a file that has something else than the expected key.
    private var adviceOnKeys: [String] {
        let isOther = "to print the right key on the device: capbundle key public"
        switch cause {
        case .isNoKey: return ["to print one on the device: capbundle key public"]
        case .isOtherKey: return [isOther]
        case .isSSHPrivateKey: return ["to make a device key: capbundle key new"]
        case .isPublicKey where code == .trustFile: return ["to trust it: capbundle trust add NAME \(word(path))"]
        case .isPublicKey:
            let own = path.string.rest(before: ".pub").map { FilePath($0) }
            return own.map { FileStatus.exists($0) ? ["the device key is \(word($0))"] : [] } ?? []
        case .isBundle where file == "-" && code == .keyDamaged: return [isOther]
        case .isBundle: return ["to take the key out of a bundle: capbundle trust add NAME --from \(word(path))"]
        case _ where file == "-": return []
        case .isSSHSecret: return ["keep it secret; to make a device key: capbundle key new"]
        case .isSSHPublicKey: return ["to convert it: ssh-keygen -e -m PKCS8 -f \(word(path)) > NAME.pem"]
        case .isCertificate:
            return ["to get the public key in it: openssl x509 -in \(word(path)) -pubkey -noout > NAME.pem"]
        case .isPrivateKey, .isEncryptedKey:
            let half = path.adding(".pub")
            if FileStatus.exists(half) { return ["its public half is \(word(half))"] }
            // OpenSSL refuses the scrypt of an encrypted device key.
            let name = word(half)
            return [
                cause == .isEncryptedKey
                    ? "to get its public half, in \(name): capbundle key recover --key \(word(path))"
                    : "to get its public half: openssl pkey -in \(word(path)) -pubout -out NAME.pem"
            ]
        default: return []
        }
    }

    private var adviceOnTrust: [String] {
        let name = values.first ?? ""
        switch cause {
        case .revoked: return ["to trust it again, first delete the line of \(name) in the trust file"]
        case .trusted:
            return ["to change how long it is trusted: capbundle trust set \(name) --valid-before TIME"]
        case .nameTaken: return ["choose another name"]
        case .isAuthority: return ["it is a time stamping authority; change its line in the trust file"]
        case .severalLines where values.isEmpty: return ["delete all but one of these lines"]
        case .severalLines: return ["give the key id of the one to change: \(values.joined(separator: " or "))"]
        default: return []
        }
    }

    /// Advice about what cannot be extracted, withheld or restored.
    private var adviceOnParts: [String] {
        let list = values.joined(separator: ", ")
        let role = entry.flatMap { EntryPath($0)?.role ?? Role(rawValue: $0) }
        switch (code, cause) {
        case (.entryAbsent, .withheld): return ["it holds \(list)"]
        case (.entryAbsent, .notInBundle): return [role?.whyMissing, "it holds \(list)"].compactMap(\.self)
        case (.restoreUnknown, .withheld): return values.isEmpty ? ["no entry of this bundle is withheld"] : values
        case (.redactEntry, .notWithholdable):
            return ["this bundle marks \(values.isEmpty ? "no entry" : "only \(list)")"]
                + (role == .metadata
                    ? [] : ["to mark it, pack the capture again with --withholdable \(entry ?? "")"])
        case (.redactEntry, _): return ["its entries are \(list)"]
        case (.redactPosition, _):
            let all = values.first.map { $0.isEmpty ? [] : ["withhold it too: --withhold \($0)"] } ?? []
            let anyway = values.isEmpty ? [] : ["to withhold location.json anyway: --keep-photo-location"]
            return (cause == .notWithholdable ? [packingAgain(role)] : []) + all + anyway
        default: return []
        }
    }

    /// How to pack a capture whose position can be withheld.
    private func packingAgain(_ role: Role?) -> String {
        switch role {
        case .metadata: "remove it from metadata.json, or rename it, and pack the capture again"
        case .photo: "pack the capture again with --rewrite-photo, or with --withholdable photo.jpg"
        default: "pack the capture again with --withholdable \(entry ?? "")"
        }
    }
}

extension BundleError {
    /// What the user can do about the error: sentences with our commands and options, computed from its code, cause and place.
    package var advice: [String] { adviceWithoutPackOptions + adviceOnPackOptions }

    /// The same for commands that have no options of `capbundle pack`.
    package var adviceWithoutPackOptions: [String] {
        adviceOnFiles + adviceOnDevice + adviceOnCapture + adviceOnPictures
    }

    /// An error of the tool itself, with its advice.
    package init(_ code: Code, _ message: String, file: FilePath? = nil, advice: [String]) {
        self.init(code, message, file: file?.string, cause: .advised, values: advice)
    }
}

extension BundleError.Cause {
    /// An error of the tool itself; the values are its advice.
    package static let advised = Self("told")
}

/// A path as a word of a shell command.
func word(_ path: FilePath) -> String { ShellWord.quote(path) }
