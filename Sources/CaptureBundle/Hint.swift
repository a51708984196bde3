public import SystemPackage

/// Advice about an error: what a person can try, and with which file. The program adds its own command for it.
public enum Hint: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// A sentence that needs no command of ours.
    case words(Wording)
    /// Give this setting.
    case set(Setting)
    /// Advice about a raw capture.
    case raw(Raw)

    /// Verify this bundle, or all bundles in this folder, which holds `count`.
    case verify(FilePath, Reason), verifyAll(FilePath, count: Int)
    /// Make a bundle from this upload body, or an upload body from this bundle.
    case restore(FilePath), makeBody(FilePath, forRealityCam: Bool)

    /// Trust the public key in this file, or that of the device that signed this bundle.
    case trustKey(FilePath), trustDevice(bundle: FilePath)
    /// Change how long the device with this name is trusted.
    case limitTrust(String)

    /// Withhold these entries, separated by commas.
    case withhold(String)

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
    /// Advice about a raw capture.
    public enum Raw: Hashable, Sendable {
        /// Pack this raw folder; pack the raw folder that contains the given file.
        case pack(FilePath), packFolder
    }
}
