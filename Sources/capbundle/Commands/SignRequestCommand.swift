import ArgumentParser
import CaptureBundle
import CaptureDevice
import CommandSupport
import SystemPackage

struct SignRequestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-request",
        abstract: "Print the headers that authenticate one upload attempt.",
        usage: "capbundle sign-request BODY --device-id UUID [options]",
        discussion: """
            The headers are valid only for this body and for a few minutes, so make new ones for each attempt. The \
            counter of the key does not change, except with --profile realitycam: there each attempt uses up a \
            counter, and a body can be sent 15 times.
            """,
        example: ["capbundle sign-request body --device-id ID |", "  curl -X POST -T body -H @headers -H @- URL"])

    enum Format: String, ExpressibleByArgument, CaseIterable { case curl, json }

    @Argument(help: "The upload body, or - for standard input.", completion: .file())
    var body: String

    @Option(help: ArgumentHelp("The id that the server gave the device.", valueName: "uuid"))
    var deviceId: String

    @Option("Unix time in milliseconds.", discussion: "Default: now.", value: "ms")
    var timestamp: Int?

    @Option(help: "curl: one header on each line, as curl -H @- reads them; json: an object.")
    var format: Format = .curl

    @OptionGroup var profile: ProfileOptions
    @OptionGroup var key: KeyOptions
    @OptionGroup var passphrase: PassphraseOptions

    func validate() throws {
        if profile.profile == .realitycam, key.path != nil {
            throw ValidationError(
                "--key is the key that signs bundles; --profile realitycam signs with --realitycam-key")
        }
    }

    func run() throws {
        switch profile.profile {
        case .capture: try signForCapture()
        case .realitycam: try signForRealityCam()
        }
    }

    private func signForRealityCam() throws {
        let signer = try profile.signer(passphrase)
        let body = try RealityCamBody(BundleSource(path: FilePath(file: self.body)))
        let signature = try signer.sign(body, deviceID: deviceId, timestamp: timestamp ?? Environment.now)
        try show(signature, hash: body.sha256, point: signer.point)
    }

    private func signForCapture() throws {
        let device = try key.file.load(passphrase.passphrase(warn: diagnostic.warning))
        let source = try BundleSource(path: FilePath(file: body))
        let isBundle = try source.kind?.family == .bundle
        let hash = try RequestSignature.hash(source)
        // If the first part of a pipeline fails, its output is empty, and we must not sign that.
        if source.isEmpty { throw BundleError(.bodyTruncated, "is empty, expected an upload body", file: body) }
        if isBundle && body != "-" {
            diagnostic.warning(
                BundleError(.bodyBoundary, "is a capture bundle, not an upload body", file: body, cause: .otherKind))
        }
        let signature = try RequestSignature(
            body: hash, deviceID: deviceId, timestamp: timestamp ?? Environment.now, device: device)
        try show(signature, hash: hash, point: device.point)
    }

    private func show(_ signature: RequestSignature, hash: Digest, point: DevicePoint) throws {
        switch format {
        case .curl: for header in signature.headers { try Output.line("\(header.name): \(header.value)") }
        case .json:
            let headers = signature.headers.map { JSONValue.Member($0.name, .string($0.value)) }
            try Output.json(
                .members([
                    "body_sha256": .text(hash), "headers": .object(headers), "key_id": .text(point.keyID),
                ]))
        }
    }
}
