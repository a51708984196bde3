import ArgumentParser
import CaptureBundle
import CommandSupport
import SystemPackage

struct TrustCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Add, list, change and revoke the devices that you trust.",
        discussion: """
            Example:
              capbundle trust add my-rig my-rig.pem
              capbundle trust list
            """,
        subcommands: [Add.self, List.self, Set.self, Revoke.self])

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Trust a device's key.",
            usage: """
                capbundle trust add NAME KEYFILE [options]
                capbundle trust add NAME --from BUNDLE [options]
                """,
            discussion: """
                Before you rely on the key, compare the key id that this command prints with what "capbundle key show" \
                prints on the device. With --from, nothing but this comparison shows whose key it is.

                Example:
                  capbundle trust add my-rig my-rig.pem
                  capbundle trust add my-rig --from cap.bundle
                """)

        @Argument(help: "A name for the device: letters, digits and ._@+-")
        var name: String

        @Argument(help: "The public key as PEM, or - for standard input.", completion: .file())
        var keyfile: String?

        @Option(
            name: .customLong("from"), help: ArgumentHelp("Take the key from this bundle.", valueName: "bundle"),
            completion: .file())
        var bundle: String?

        @Option(help: "How the device keeps its key: software or apple-appattest.")
        var level: TrustLevel = .software

        @OptionGroup var limits: TrustLimitOptions
        @OptionGroup var trust: ChangedTrustOptions
        @OptionGroup var format: JSONOption

        func validate() throws {
            if keyfile == nil && bundle == nil { throw ValidationError(missing) }
            if keyfile != nil && bundle != nil { throw ValidationError("give either a key file or --from BUNDLE") }
            guard (level == .appleAppAttest) == (limits.rpid != nil) else {
                throw ValidationError("give both --level apple-appattest and --rpid, or neither")
            }
        }

        func run() throws {
            var device = try TrustedDeviceLine(name: name, point: point())
            device.level = level
            do {
                device.rpID = try limits.rpid.map { text throws(BundleError) in try .init(text) }
                device.validAfter = try limits.validAfter.map(TrustedDeviceLine.time)
                device.validBefore = try limits.validBefore.map(TrustedDeviceLine.time)
            } catch {
                throw ValidationError(error.message)
            }
            if let after = device.validAfter, let before = device.validBefore, after >= before {
                throw ValidationError("--valid-after must be earlier than --valid-before")
            }
            let path = try trust.pathToChange(warn: diagnostic.warning)
            try TrustFile.update(path: path) { file throws(BundleError) in try file.add(device) }
            try format.json ? Output.json(device.json) : Output.line("\(device.name) \(device.point.keyID)")
            diagnostic.note("added to \(path)")
            diagnostic.note("check that this prints the same key id on the device: capbundle key show")
        }

        /// One name was given: of the device or, by mistake, of the file.
        private var missing: String {
            guard let kind = FileKind(file: FilePath(name)) else {
                return "a KEYFILE is missing: capbundle trust add \(name) KEYFILE"
            }
            let from = kind.family == .bundle ? "--from " : ""
            return "a NAME for the device is missing: capbundle trust add NAME \(from)\(name)"
        }

        private func point() throws -> DevicePoint {
            if let keyfile { return try PublicKeyFile.point(path: FilePath(file: keyfile)) }
            let path = bundle ?? "-"
            let verifier = Verifier(trust: TrustFile(), policy: VerificationPolicy(allowsWithheld: true))
            let report = try verifier.verify(BundleSource(path: FilePath(file: path)))
            // Trust is not expected here, because this command is about to add it. Any verdict other than "unknown" is
            // a fault of the bundle.
            guard report.verdict == .unknownDevice, let manifest = report.manifest, let data = report.authenticatorData
            else {
                for fault in report.faults { diagnostic.error(fault.about(file: path)) }
                throw ExitStatus(report.verdict)
            }
            guard (data.kind == .apple) == (level == .appleAppAttest) else {
                throw ValidationError(
                    data.kind == .apple
                        ? "\(path) is signed by an Apple key; give --level apple-appattest and --rpid"
                        : "\(path) is signed by a disk key, not by an Apple key")
            }
            return manifest.device
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the devices in the trust file.",
            discussion: """
                Example:
                  capbundle trust list
                """,
            aliases: ["ls"])

        @OptionGroup var trust: TrustOptions
        @OptionGroup var format: JSONOption

        func run() throws {
            let devices = try trust.file(warn: diagnostic.warning).devices
            if format.json {
                for device in devices { try Output.json(device.json) }
                return
            }
            if devices.isEmpty {
                diagnostic.note("no device is trusted; add one with: capbundle trust add NAME KEYFILE")
            }
            var table = TextTable()
            for device in devices { table.add(device.name, device.summary, device.point.keyID.description) }
            for line in table.lines { try Output.line(line) }
        }
    }

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "Refuse everything that a device ever signed.",
            discussion: """
                The key stays in the file, marked as revoked. From now on, "capbundle verify" ends with 4 for every \
                bundle that the key signed. This includes old bundles, because anyone with the key can choose the time \
                in a bundle.

                Example:
                  capbundle trust revoke my-rig
                """)

        @Argument(help: "The device's name in the trust file.")
        var name: String

        @OptionGroup var trust: ChangedTrustOptions

        func run() throws {
            let path = try trust.pathToChange(warn: diagnostic.warning)
            let count = try TrustFile.update(path: path) { file throws(BundleError) in try file.revoke(name: name) }
            diagnostic.note(count == 0 ? "\(name) was already revoked" : "\(name) is revoked in \(path)")
        }
    }
}

extension TrustedDeviceLine {
    var summary: String {
        if isRevoked { return "revoked" }
        var parts = [level.rawValue]
        if let rpID { parts.append(rpID.text) }
        if let validAfter { parts.append("from \(validAfter)") }
        if let validBefore { parts.append("before \(validBefore)") }
        return parts.joined(separator: ", ")
    }

    var json: JSONValue {
        .members([
            "key_id": .text(point.keyID), "level": .string(level.rawValue), "name": .string(name),
            "revoked": .bool(isRevoked), "rpid": .text(rpID?.text), "valid_after": .text(validAfter),
            "valid_before": .text(validBefore),
        ])
    }
}
