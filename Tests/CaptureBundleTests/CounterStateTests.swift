import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureTestSupport
import Foundation
import Glibc
import Synchronization
import SystemPackage
import Testing

/// The state of a verifier: which bundle used which counter (Spec/capture-bundle.md section 11.2).
struct CounterStateTests {
    private let folder: TemporaryFolder
    private let key: DeviceKeyFile
    private let trust: TrustFile
    private let state: FilePath

    init() throws {
        folder = try TemporaryFolder()
        state = folder.path("state")
        key = DeviceKeyFile(path: folder.path("keys/device.key"))
        var trust = TrustFile()
        try trust.add(TrustedDeviceLine(name: "rig", point: key.create(passphrase: nil).point))
        self.trust = trust
        try RawFolder.write(to: folder)
    }

    private func pack(_ name: String) throws -> FilePath {
        let bundle: FilePath = folder.path(name)
        _ = try Packer(key: key).pack(folder.path("raw"), to: .file(bundle)) { _ in }
        return bundle
    }

    private func verifier(_ required: [VerificationPolicy.Part] = []) throws -> Verifier {
        Verifier(
            trust: trust, policy: VerificationPolicy(required: required), state: try CounterState(folder: state))
    }

    private func keyFile() throws -> String { "state/\(try key.publicKey().keyID)" }

    @Test(arguments: try VectorFile.all(of: "state"))
    func isJudgedAsItsHeaderSays(_ vector: VectorFile) throws {
        let trust = try TrustFile(bytes: Array(vector.trust.map { $0 + "\n" }.joined().utf8), name: "trust")
        let state = try CounterState(folder: state)
        for side in vector.sides { _ = try Verifier(trust: trust, state: state).verify(BundleSource(bytes: side)) }
        let report = try Verifier(trust: trust, policy: VectorTests.policy(vector.arguments), state: state)
            .verify(BundleSource(bytes: vector.content))
        #expect(report.verdict.rawValue == vector.expectedExit, "\(report.faults)")
        #expect(Set(report.faults.map(\.code.rawValue)).sorted() == vector.expectedCodes, "\(report.faults)")
    }

    @Test func writesTheManifestsHashAtTheCountersPlace() throws {
        let hashes = try (1...3).map { try verifier().verify(BundleSource(path: pack("\($0)"))).manifestSHA256 }
        let expected = [UInt8](repeating: 0, count: 32) + hashes.compactMap { $0?.bytes }.joined()
        #expect(try folder.bytes(keyFile()) == expected)
        #expect(try FileManager.default.contentsOfDirectory(atPath: state).count == 2)
        for (name, mode) in [("state", 0o700), (try keyFile(), 0o600), ("state/lock", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(name) as String)
            #expect(attributes[.posixPermissions] as? Int == mode)
        }
    }

    /// An archive in any order, on several threads, twice: no false alarm, and each bundle is fresh once.
    @Test func givesNoFalseAlarmsInAnyOrder() throws {
        var bundles = try (0..<(isLongRun ? 60 : 10)).map { try pack("b\($0)") }
        var random = SeededGenerator(seed: 7)
        for turn in 0..<3 {
            bundles.shuffle(using: &random)
            let expected: Verdict = turn == 0 ? .verified : .unacceptable
            var delivered: [String] = []
            let queue = Queue(bundles)
            try verifier([.fresh]).verifyAll(threads: 4, next: { queue.next() }) { outcome in
                delivered.append(outcome.file)
                #expect((try? outcome.result.get())?.verdict == expected)
                return true
            }
            #expect(delivered == bundles.map(\.string))
        }
    }

    @Test func refusesAFileThatIsNotARecordOfCounters() throws {
        let bundle = try pack("x")
        let path: String = folder.path(try keyFile())
        _ = try CounterState(folder: state)
        let makers: [(String, () throws -> Void)] = [
            ("a wrong length", { try folder.write([UInt8](repeating: 0, count: 33), to: keyFile()) }),
            ("a pipe", { try #require(unsafe mkfifo(path, 0o600) == 0) }),
            ("a link", { try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "other") }),
        ]
        for (name, make) in makers {
            try make()
            try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            let error = #expect(throws: BundleError.self) { try verifier().verify(BundleSource(path: bundle)) }
            #expect(error?.code == .stateDamaged && error?.file == path, "\(name)")
            try FileManager.default.removeItem(atPath: path)
        }
    }
}

/// Hands out paths to several threads.
private final class Queue: Sendable {
    private let paths: [FilePath]
    private let place = Mutex(0)

    init(_ paths: [FilePath]) { self.paths = paths }

    func next() -> Result<BundleSource.Place, BundleError>? {
        place.withLock { place in
            defer { place += 1 }
            return place < paths.count ? .success(.file(paths[place])) : nil
        }
    }
}
