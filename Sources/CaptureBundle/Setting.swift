/// An option of the caller to which messages and hints refer. A program replaces it with its own name, such as
/// `--force`.
public enum Setting: String, Sendable {
    // Which files are read and written.
    case passphraseFile = "passphrase-file", replaces = "force", keyFile = "key", stateFolder = "state"
    // The app for which a request is signed.
    case rpID = "rpid"
    // What is written into the bundle, and how.
    case chain, withholdable
    case convertsPhoto = "convert-photo", rewritesPhoto = "rewrite-photo", keepsSource = "keep-source"
    case keepsPhotoLocation = "keep-photo-location"
    /// The command that packs a capture. It is not a setting, but messages refer to it in the same way.
    case pack
}
