public import SystemPackage

/// Advice about an error: what a person can try, and with which file. The program adds its own command for it.
public enum Hint: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// A sentence that needs no command of ours.
    case words(Wording)
    /// Give this setting.
    case set(Setting)
    /// Advice about a device key, or about a raw capture.
    case key(Key), raw(Raw)

    /// Verify this bundle, or all bundles in this folder, which holds `count`.
    case verify(FilePath, Reason), verifyAll(FilePath, count: Int)
    /// Look at what this bundle holds.
    case show(FilePath)
    /// Make a bundle from this upload body, or an upload body from this bundle.
    case restore(FilePath), makeBody(FilePath, forRealityCam: Bool)
    /// Make an upload body for RealityCam, or make it again in place of the existing file.
    case makeRealityCamBody(replaces: Bool)

    /// Trust the public key in this file, or that of the device that signed this bundle.
    case trustKey(FilePath), trustDevice(bundle: FilePath)
    /// Change how long the device with this name is trusted.
    case limitTrust(String)

    /// Withhold these entries, separated by commas.
    case withhold(String)
    /// Pack with this key again, which finishes the bundle of this link.
    case finishLink(Int)
    /// Move the file away that took the name of a link's bundle, and pack again.
    case finishLinkElsewhere

    /// Why a bundle should be verified.
    public enum Reason: Hashable, Sendable {
        /// To see all of its faults, or what is wrong with it.
        case faults, damage
        /// Its folder was given in place of a file.
        case isInFolder
    }

    public init(stringLiteral text: String) { self = .words(Wording(text)) }
    public init(stringInterpolation: Wording.StringInterpolation) {
        self = .words(Wording(stringInterpolation: stringInterpolation))
    }

    /// The sentence of `words`; nil for other advice.
    package var words: String? { if case .words(let wording) = self { wording.description } else { nil } }
}

extension Hint {
    /// Advice about a device key. A path is that of the private key.
    public enum Key: Hashable, Sendable {
        /// Make a device key; the file that was given is another kind of key, perhaps a secret one.
        case make(insteadOfSecret: Bool)
        /// Make the missing key at this path; make a key for bundles; make a new key, because this one is used up.
        case makeMissing(FilePath), makeForBundles, makeNext
        /// Print the device's public key on that device. `isOther`: the given file is a key or file of another kind.
        case print(isOther: Bool)
        /// Make the public half of a key again; its file may belong to another key.
        case recoverHalf(FilePath, isOther: Bool)
        /// Make the public half of an encrypted key, in a second file.
        case recoverMissingHalf(FilePath, into: FilePath)
        /// Recover the state from the newest bundle of the key's chain. If the counter is lost too, the key may have no
        /// chain.
        case recoverChain(FilePath, isCounterLost: Bool)
        /// If the key makes no chain: look up the highest counter that it signed with, in its newest bundle.
        case findCounter
        /// Recover the state (`isOther`: the one here is of another key), or begin it for a key in hardware without one.
        case recoverCounter(FilePath, isOther: Bool), beginCounter(FilePath)
        /// If the key signs uploads to RealityCam, tell the recovery so.
        case recoverForRealityCam
    }

    /// Advice about a raw capture.
    public enum Raw: Hashable, Sendable {
        /// Pack this raw folder; pack the raw folder that contains the given file.
        case pack(FilePath), packFolder
    }
}
