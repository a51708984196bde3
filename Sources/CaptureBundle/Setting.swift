/// An option of the caller to which messages and hints refer. A program replaces it with its own name, such as
/// `--force`.
public enum Setting: String, Sendable {
    // Which files are read and written.
    case confidencePattern = "confidence", depthPattern = "depth", photoPattern = "photo"
    case frames, layout, passphraseFile = "passphrase-file", replaces = "force", keyFile = "key", stateFolder = "state"
    // What is known about a capture, or about the app for which a request is signed.
    case capturedAt = "captured-at", deviceModel = "device-model", sharesTime = "same-time", timeZone = "time-zone"
    case depthInvalid = "depth-invalid", depthScale = "depth-scale", depthSize = "depth-size", depthUnit = "depth-unit"
    case depthChannel = "depth-channel", rpID = "rpid"
    // What is written into the bundle, and how.
    case chain, location, withholdable
    case convertsPhoto = "convert-photo", rewritesPhoto = "rewrite-photo", keepsSource = "keep-source"
    case keepsPhotoLocation = "keep-photo-location", withoutDepth = "no-depth"
    /// The command that packs a capture. It is not a setting, but messages refer to it in the same way.
    case pack
}
