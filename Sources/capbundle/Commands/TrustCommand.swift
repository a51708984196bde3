import ArgumentParser
import CaptureBundle
import CaptureNative
import CommandSupport
import SystemPackage

struct TrustCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Add, list, change and revoke the devices and time stamping authorities that you trust.",
        discussion: """
            To forget a device, delete its line in the trust file. "trust revoke" refuses all that it ever signed.
            """,
        example: ["capbundle trust add my-rig my-rig.pem", "capbundle trust list"],
        subcommands: [Add.self, List.self, Set.self, Revoke.self])

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Trust a device's key, or a time stamping authority.",
            usage: """
                capbundle trust add NAME KEYFILE [options]
                capbundle trust add NAME --from BUNDLE [options]
                capbundle trust add NAME --tsa CERTIFICATE [options]
                """,
            discussion: """
                Before you rely on the key, compare the key id that this command prints with what "capbundle key show" \
                prints on the device. With --from, nothing but this comparison shows whose key it is. With --tsa, \
                compare the printed SHA-256 of the certificate with what the authority publishes.
                """,
            example: ["capbundle trust add my-rig my-rig.pem", "capbundle trust add my-rig --from cap.bundle"])

        @Argument(help: "A name for the device or authority: letters, digits and ._@+-")
        var name: String

        @Argument(help: "The public key as PEM, or - for standard input.", completion: .file())
        var keyfile: String?

        @Option(name: .customLong("from"), "Take the key from this bundle.", value: "bundle", completion: .file())
        var bundle: String?

        @Option(
            "Trust the time stamps of the authority with this certificate, or below it (PEM).", value: "certificate",
            completion: .file())
        var tsa: String?

        @Option(help: "How the device keeps its key: software, token, tpm or apple-appattest.")
        var level: TrustLevel = .software

        @OptionGroup var limits: TrustLimitOptions
        @OptionGroup var trust: ChangedTrustOptions
        @OptionGroup var format: JSONOption

        func validate() throws {
            if tsa != nil {
                guard keyfile == nil, bundle == nil, level == .software, limits.rpid == nil else {
                    throw ValidationError("--tsa goes with --valid-after and --valid-before only")
                }
                return
            }
            if keyfile == nil && bundle == nil { throw ValidationError(missing) }
            if keyfile != nil && bundle != nil { throw ValidationError("give either a key file or --from BUNDLE") }
            guard (level == .appleAppAttest) == (limits.rpid != nil) else {
                throw ValidationError("give both --level apple-appattest and --rpid, or neither")
            }
        }

        func run() throws {
            let (after, before) = try limits.times()
            if let tsa { return try add(authority: FilePath(file: tsa), after, before) }
            var device = try TrustedDeviceLine(name: name, point: point())
            device.level = level
            device.rpID = try limits.appID()
            (device.validAfter, device.validBefore) = (after, before)
            let path = try trust.pathToChange(warn: diagnostic.warning)
            try TrustFile.update(path: path) { file in try file.add(device) }
            try format.json ? Output.json(device.json()) : Output.line("\(device.name) \(device.point.keyID)")
            diagnostic.note("added to \(path)")
            diagnostic.note("check that this prints the same key id on the device: capbundle key show")
        }

        private func add(authority file: FilePath, _ after: CaptureTime?, _ before: CaptureTime?) throws {
            var authority = try TrustedAuthorityLine(name: name, path: file)
            (authority.validAfter, authority.validBefore) = (after, before)
            let path = try trust.pathToChange(warn: diagnostic.warning)
            try TrustFile.update(path: path) { file in try file.add(authority) }
            let fingerprint = try authority.fingerprint
            try format.json ? Output.json(authority.json) : Output.line("\(authority.name) \(fingerprint)")
            diagnostic.note("added to \(path)")
            diagnostic.note("check that the authority publishes the same SHA-256 of its certificate")
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
            if let keyfile, HardwareKeyURI(FilePath(keyfile)) != nil {
                // The URI can have a PIN in it, so the message does not repeat it.
                throw ValidationError(
                    "a key in hardware is added by: capbundle key public --key URI | capbundle trust add NAME -")
            }
            if let keyfile { return try PublicKeyFile.point(path: FilePath(file: keyfile)) }
            let path = bundle ?? "-"
            let report = try Verifier.soundness.verify(BundleSource(path: FilePath(file: path)))
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
            abstract: "List the devices and authorities in the trust file.",
            example: ["capbundle trust list"],
            aliases: ["ls"])

        @OptionGroup var trust: TrustOptions
        @OptionGroup var format: JSONOption

        func run() throws {
            let file = try trust.file(warn: diagnostic.warning)
            let (devices, authorities) = (file.devices, file.authorities)
            let names = DeviceNames(file)
            if format.json {
                for device in devices { try Output.json(device.json(names.device(device.point.keyID))) }
                for authority in authorities { try Output.json(authority.json) }
                return
            }
            if devices.isEmpty {
                diagnostic.note("no device is trusted; add one with: capbundle trust add NAME KEYFILE\(trust.words)")
            }
            var table = TextTable()
            for device in devices {
                let summary = device.summary(names.device(device.point.keyID))
                table.add(device.name, summary, device.point.keyID.description)
            }
            for authority in authorities {
                table.add(authority.name, authority.summary, try authority.fingerprint.description)
            }
            for line in table.lines { try Output.line(line) }
        }
    }

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "Stop trusting a key, also for what it signed before, unless --since says otherwise.",
            discussion: """
                The key stays in the file, marked as revoked. From now on, "capbundle verify" ends with 4 for every \
                bundle that the key signed. This includes old bundles, because anyone with the key can choose the time \
                in a bundle. With --since TIME, bundles stay acceptable whose time stamp shows that they were signed \
                before TIME (capbundle verify --stamps).
                """,
            example: ["capbundle trust revoke my-rig", "capbundle trust revoke my-rig --since 2026-05-01"])

        @Argument(help: "The name of the device or authority in the trust file.")
        var name: String

        @Option("The earliest time at which the key may have been stolen.", value: "time")
        var since: String?

        @OptionGroup var trust: ChangedTrustOptions

        func run() throws {
            let since = try readingOptions { try self.since.map(TrustedDeviceLine.time) }
            let revocation = since.map { Revocation.since($0) } ?? .always
            let path = try trust.pathToChange(warn: diagnostic.warning)
            let count = try TrustFile.update(path: path) { file in
                try file.revoke(name: name, revocation)
            }
            diagnostic.note(count == 0 ? "\(name) was already revoked" : "\(name) is revoked in \(path)")
        }
    }
}

extension TrustedDeviceLine {
    /// - Parameter decisive: The line that decides about the key, if that is another one: it revokes it.
    func summary(_ decisive: TrustedDeviceLine? = nil) -> String {
        let line = decisive ?? self
        let place = line.name == name ? "" : " under the name \(line.name)"
        switch line.revocation {
        case .always: return "revoked\(place)"
        case .since(let time): return "revoked since \(time)\(place)"
        case nil: break
        }
        let limits = [validAfter.map { "from \($0)" }, validBefore.map { "before \($0)" }]
        return ([level.rawValue, rpID?.text] + limits).compactMap(\.self).joined(separator: ", ")
    }

    func json(_ decisive: TrustedDeviceLine? = nil) -> JSONValue {
        let revocation = (decisive ?? self).revocation
        return .members([
            "key_id": .text(point.keyID), "level": .string(level.rawValue), "name": .string(name),
            "revoked": .bool(revocation != nil), "revoked_since": .text(revocation?.time), "rpid": .text(rpID?.text),
            "valid_after": .text(validAfter),
            "valid_before": .text(validBefore),
        ])
    }
}

extension TrustedAuthorityLine {
    var summary: String {
        if isRevoked { return "time stamps, revoked" }
        let limits = [validAfter.map { "from \($0)" }, validBefore.map { "before \($0)" }].compactMap(\.self)
        return (["time stamps"] + limits).joined(separator: ", ")
    }

    var json: JSONValue {
        get throws {
            .members([
                "certificate_sha256": .text(try fingerprint), "name": .string(name), "revoked": .bool(isRevoked),
                "valid_after": .text(validAfter), "valid_before": .text(validBefore),
            ])
        }
    }
}
