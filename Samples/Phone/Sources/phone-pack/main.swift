import Foundation
import PhoneCapture

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// Writes a bundle as an app does, from a raw folder, so that the tests can compare it with that of `capbundle pack`.
///
///     phone-pack RAW BUNDLE --key PEM --secret HEX --counter FILE [--body FILE] [--typed] [--deflated FILE]
///         [--row-padding BYTES] [--apple RPID [--apple-map HEX]] [--assertion FILE]
///     phone-pack --send BODY HEADERS --key PEM --device UUID
do {
    let options = try Options(CommandLine.arguments.dropFirst())
    let signing = try P256.Signing.PrivateKey(
        pemRepresentation: String(contentsOf: options.file("key"), encoding: .utf8))
    let key = DeviceKey(signing.publicKey) { try signing.signature(for: $0) }
    if options.has("send") {
        guard let device = UUID(uuidString: try options.text("device")) else { throw Failure("--device is not a UUID") }
        let headers = try UploadBody(bytes: Data(contentsOf: options.file(0))).headers(device: device, key: key)
        let lines = headers.map { "\($0): \($1)\n" }.sorted().joined()
        try Data(lines.utf8).write(to: options.file(1))
    } else {
        let raw = try RawFolder(options.file(0), rowPadding: Int(options.text("row-padding", or: "0")) ?? 0)
        var signer: any ManifestSigner = KeySigner(key, counter: SignatureCounter(try options.file("counter")))
        if options.has("apple") {
            let map = try options.hex("apple-map", or: "")
            signer = AppleForm(key: signing, appID: try options.text("apple"), map: map)
        } else if options.has("assertion") {
            signer = Recorded(
                publicKey: key.publicKey,
                assertion: try Data(contentsOf: options.file("assertion")))
        }
        var deflate: @Sendable (Data) throws -> Data = DepthMap.stored
        if options.has("deflated") {
            let stream = try Data(contentsOf: options.file("deflated"))
            deflate = { _ in stream }
        }
        let capture = options.has("typed") ? try raw.typed() : try raw.capture()
        let bundle = try await capture.signed(by: signer, secret: options.hex("secret"), deflate: deflate)
        try bundle.bytes.write(to: options.file(1), options: .atomic)
        if options.has("body") { try bundle.uploadBody().bytes.write(to: options.file("body"), options: .atomic) }
        print(bundle.id)
    }
} catch {
    FileHandle.standardError.write(Data("phone-pack: \(error.localizedDescription)\n".utf8))
    exit(1)
}
