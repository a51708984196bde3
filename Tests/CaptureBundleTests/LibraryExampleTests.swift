import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureTestSupport
import SystemPackage
import Testing

/// The examples of CaptureBundle.docc. The page of each name shows the lines between `docs:` and `end` exactly
/// (Tests/Documents/library.py compares them).
struct LibraryExampleTests {
    private let folder: TemporaryFolder
    private let keyPath: FilePath

    init() throws {
        folder = try TemporaryFolder()
        keyPath = folder.path("keys/device.key")
        try RawFolder.write(to: folder)
    }

    private func pack(_ raw: FilePath, to bundle: FilePath) throws -> String {
        let key = DeviceKeyFile(path: keyPath)
        if (try? key.publicKey()) == nil { _ = try key.create(passphrase: nil) }
        return try Packer(key: key).pack(raw, to: .file(bundle)).id
    }

    @Test func packsAndReadsABundle() throws {
        let bundle: FilePath = folder.path("cap.bundle")
        let id = try pack(folder.path("raw"), to: bundle)
        let opened: FilePath = folder.path("opened")
        // docs: ReadABundle
        let report = try Verifier(trust: TrustFile()).verify(BundleSource(path: bundle))
        guard report.verdict == .unknownDevice, let manifest = report.manifest else { throw report.faults[0] }
        for entry in manifest.entries { print("\(entry.path): \(entry.size) bytes, SHA-256 \(entry.sha256)") }

        let extractor = Extractor(entries: ["photo.jpg", "depth.f32.gz"], asFloats: true)
        let names = try extractor.extract(BundleSource(path: bundle), to: .folder(opened))
        // end
        #expect(manifest.id == id)
        #expect(names == ["depth.f32", "photo.jpg"])
        #expect(try folder.bytes("opened/photo.jpg") == RawFolder.photo)
        #expect(try folder.bytes("opened/depth.f32") == RawFolder.depth)
    }

    @Test func verifiesOneBundleAndMany() throws {
        let bundle: FilePath = folder.path("cap.bundle")
        _ = try pack(folder.path("raw"), to: bundle)
        // docs: VerifyBundles
        var trust = TrustFile()
        try trust.add(TrustedDeviceLine(name: "my-rig", point: DeviceKeyFile(path: keyPath).publicKey()))

        let verifier = Verifier(trust: trust, policy: VerificationPolicy(required: [.depth]))
        let report = try verifier.verify(BundleSource(path: bundle))
        switch report.verdict {
        case .verified: print("sound, from \(report.trustedDevice?.name ?? "")")
        case .unknownDevice, .unacceptable: print("sound, but \(report.faults)")
        case .altered, .malformed: print("do not use it: \(report.faults)")
        }
        // end
        #expect(report.verdict == .verified && report.trustedDevice?.name == "my-rig")
    }

    @Test func refusesReplays() throws {
        let bundle: FilePath = folder.path("cap.bundle")
        _ = try pack(folder.path("raw"), to: bundle)
        let stateFolder: FilePath = folder.path("state")
        var trust = TrustFile()
        try trust.add(TrustedDeviceLine(name: "my-rig", point: DeviceKeyFile(path: keyPath).publicKey()))
        // docs: RefuseReplays
        let state = try CounterState(folder: stateFolder)
        let policy = VerificationPolicy(required: [.fresh])
        let verifier = Verifier(trust: trust, policy: policy, state: state)
        let first = try verifier.verify(BundleSource(path: bundle))
        let second = try verifier.verify(BundleSource(path: bundle))
        print(first.verdict, second.faults)
        // end
        #expect(first.verdict == .verified && second.verdict == .unacceptable)
    }

    @Test func sendsAndReceives() async throws {
        let bundle: FilePath = folder.path("cap.bundle")
        _ = try pack(folder.path("raw"), to: bundle)
        let bodyPath: FilePath = folder.path("body")
        let received: FilePath = folder.path("received.bundle")
        var trust = TrustFile()
        try trust.add(TrustedDeviceLine(name: "my-rig", point: DeviceKeyFile(path: keyPath).publicKey()))
        let now = 1_700_000_000_000
        let pieces = FileBytes(path: bodyPath)
        // docs: SendAndReceive
        // The sender makes the body file once, and new headers for each attempt.
        let body = try MultipartBody.write(bundle: bundle, to: .file(bodyPath))
        let device = try DeviceKeyFile(path: keyPath).load(passphrase: nil)
        let signature = try RequestSignature(
            body: RequestSignature.hash(BundleSource(path: bodyPath)),
            deviceID: "3f2b8c1e-5d47-4b1a-9c0e-7a6f1d2e3b4c", timestamp: now, device: device)
        let headers = [("Content-Type", body.contentType)] + signature.headers

        // The server checks the contents while they arrive, and who sent them before it keeps anything.
        let receiver = BundleReceiver(trust: trust)
        let result = try await receiver.receive(pieces, to: .file(received)) { sha256 in
            try signature.verify(body: sha256, device: device.point)
        }
        print(result.isKept ? "kept: \(result.report.verdict)" : "refused: \(result.report.faults)")
        // end
        #expect(headers.count == 4 && result.isKept)
        #expect(try folder.bytes("received.bundle") == folder.bytes("cap.bundle"))
    }
}

/// The bytes of a file, which are read when they are asked for.
private struct FileBytes: AsyncSequence, Sendable {
    let path: FilePath

    func makeAsyncIterator() -> BodyPieces.AsyncIterator {
        BodyPieces((try? path.bytes) ?? []).makeAsyncIterator()
    }
}
