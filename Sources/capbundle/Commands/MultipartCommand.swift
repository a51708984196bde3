import ArgumentParser
import CaptureBundle
import CaptureDevice
import CommandSupport
import SystemPackage

struct MultipartCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "multipart",
        abstract: "Write the upload body of a bundle, a file that curl can send.",
        usage: "capbundle multipart FILE -o BODY [options]",
        discussion: """
            Also verifies the bundle, without checking trust. The same bundle gives the same body, byte for byte. \
            Exit codes: 0, 1 or 2 as for "capbundle verify".

            Example:
              capbundle multipart cap.bundle -o body --headers headers
              capbundle sign-request body --device-id ID |
                curl -X POST -T body -H @headers -H @- URL

            With --profile realitycam, the body contains an assertion with a new counter, so every body is different.
            """)

    @Argument(help: "The bundle, or - for standard input.", completion: .file())
    var file: String

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "The body to write, or - for standard output.", discussion: "With -, --json prints on standard error.",
            valueName: "body"), completion: .file())
    var output: String

    @OptionGroup var headers: HeadersOption
    @OptionGroup var profile: ProfileOptions

    @Flag(help: "realitycam: leave the assertion out, for a device whose level is not secure_enclave.")
    var withoutAssertion = false

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var force: ForceOption
    @OptionGroup var format: JSONOption

    func validate() throws {
        try refuseTerminal(output, "a body")
        if profile.profile == .capture, withoutAssertion || passphrase.passphraseFile != nil {
            throw ValidationError("--without-assertion and --passphrase-file need --profile realitycam")
        }
        if withoutAssertion, profile.realityCamKey != nil || profile.rpid != nil {
            throw ValidationError("--without-assertion signs nothing, so leave out --realitycam-key and --rpid")
        }
        if output == "-" && headers.path == "-" { throw ValidationError("only one of BODY and --headers can be -") }
    }

    func run() throws {
        let isSigned = profile.profile == .realitycam && !withoutAssertion
        let signer = isSigned ? try profile.signer(passphrase) : nil
        let inputs = (signer?.files ?? []) + passphrase.files
        let (path, place) = (FilePath(file: file), try force.place(output, besides: inputs))
        let headerPlace = try headers.path.map { try force.place($0, besides: inputs) }
        let body =
            switch profile.profile {
            case .capture: try MultipartBody.write(bundle: path, to: place, headers: headerPlace)
            case .realitycam:
                try MultipartBody.write(
                    bundle: path, realityCam: signer, to: place, headers: headerPlace)
            }
        BodyRendering.remarks(output, body)
        if format.json {
            try Output.json(BodyRendering.json(output, body, headers: headers.path), beside: [output, headers.path])
        } else {
            diagnostic.note("wrote \(output): \(body.manifest.id), \(Quantity.bytes(body.byteCount, on: .messages))")
        }
    }
}

struct HeadersOption: ParsableArguments {
    @Option(
        name: .customLong("headers"), "Write the Content-Type line of the request to this file.",
        discussion: "curl reads it with -H @FILE.", value: "file", completion: .file())
    var path: String?
}
