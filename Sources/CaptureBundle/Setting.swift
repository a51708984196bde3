/// A choice of the caller that messages and hints name. A program knows it under a name of its own, such as an option.
public enum Setting: String, Sendable {
    // Which files are read and written.
    case confidencePattern = "confidence", depthPattern = "depth", photoPattern = "photo"
    case frames, layout, passphraseFile = "passphrase-file", replaces = "force", keyFile = "key", stateFolder = "state"
    // What is known about a capture, or about the app for which a request is signed.
    case capturedAt = "captured-at", deviceModel = "device-model", sharesTime = "same-time", timeZone = "time-zone"
    case depthInvalid = "depth-invalid", depthScale = "depth-scale", depthSize = "depth-size", depthUnit = "depth-unit"
    case rpID = "rpid"
    // What a bundle gets.
    case chain, location, withholdable
    case convertsPhoto = "convert-photo", rewritesPhoto = "rewrite-photo", keepsSource = "keep-source"
    case keepsPhotoLocation = "keep-photo-location", withoutDepth = "no-depth"
    /// Not a setting, but the packing of a capture.
    case pack
}
