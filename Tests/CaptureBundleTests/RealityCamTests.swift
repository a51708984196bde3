import CaptureBundle
import CaptureDevice
import CaptureNative
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

/// Uploads to RealityCam: a key of its own, counters in the only order that the server accepts, and bodies that the
/// signer recognises.
struct RealityCamTests {
    private static let deviceID = "7e57ab1e-0000-4000-8000-000000000051"
    private let folder: TemporaryFolder
    private let file: DeviceKeyFile
    private let signer: RealityCamSigner
    private let bundle: FilePath

    init() throws {
        folder = try TemporaryFolder()
        file = DeviceKeyFile(path: folder.path("k/realitycam.key"))
        _ = try file.create(passphrase: nil)
        signer = try RealityCamSigner(file, passphrase: .none)
        bundle = FilePath(Places.sample.appending(path: "desk-lamp.bundle").path)
    }

    private func body(_ name: String, _ signer: RealityCamSigner? = nil) throws -> FilePath {
        let path: FilePath = folder.path(name)
        _ = try MultipartBody.write(bundle: bundle, realityCam: signer ?? self.signer, to: .replacing(path))
        return path
    }

    private func sign(_ path: FilePath, _ signer: RealityCamSigner? = nil) throws -> UInt32 {
        let body = try RealityCamBody(BundleSource(path: path))
        let made = try (signer ?? self.signer).sign(body, deviceID: Self.deviceID, timestamp: 1_773_476_813_589)
        return try counter(#require(Base64.decode(made.signature)))
    }

    private func bytes(of path: FilePath) throws -> [UInt8] { try Array(Data(contentsOf: URL(filePath: path.string))) }

    /// The counter in the encoded authenticator data, which are the last 37 bytes.
    private func counter(_ cbor: [UInt8]) -> UInt32 { cbor.suffix(4).reduce(0) { $0 << 8 | UInt32($1) } }

    // MARK: - Counters

    @Test func countsAttemptsBelowTheAssertionOfTheirBody() throws {
        let first = try body("a")
        #expect(try file.state().counter == 16)
        #expect(try (0..<15).map { _ in try sign(first) } == Array(1...15))
        #expect(refusal { _ = try sign(first) }?.code == .keyState)
        let second = try body("b")
        #expect(try sign(second) == 17)
        #expect(try file.state().counter == 32)
    }

    @Test func givesSendersPairsThatNeverOverlap() async throws {
        let signer = signer
        let pairs = try await withThrowingTaskGroup(of: [UInt32].self) { group in
            for _ in 0..<6 {
                group.addTask {
                    try (0..<10).flatMap { _ in
                        let pair = try signer.reserve(withAssertion: true)
                        return [pair.header, try #require(pair.assertion)]
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(pairs).count == 120)
        #expect(try file.state().counter == 120)
        for start in stride(from: 0, to: pairs.count, by: 2) { #expect(pairs[start] + 1 == pairs[start + 1]) }
    }

    @Test func refusesACounterThatWouldWrapAround() throws {
        _ = try file.recover(counter: UInt32.max - 10, isForRealityCam: true)
        #expect(refusal { _ = try body("a") }?.code == .keyCounterUsedUp)
        #expect(try signer.reserve(withAssertion: true).header == UInt32.max - 9)
    }

    // MARK: - A key of its own

    @Test(arguments: ["realitycam 3", "realitycam -1", "realitycam 01", "realitycam", "realitycam 4294967296"])
    func refusesAStateWithAnImpossibleLine(_ line: String) throws {
        let state = try file.state()
        let lines = [
            "capture-bundle-key-state 1", "key \(state.keyID)", "counter 2",
            "salt \(String(repeating: "0", count: 64))",
        ]
        let text = (lines + ["chain 0 -", line]).map { $0 + "\n" }.joined()
        let sum = try Digest.of(Array(text.utf8))
        #expect(try DeviceKeyState.decode(Array("\(text)sha256 \(sum)\n".utf8)) == nil)
    }

    // MARK: - Bodies

    @Test func takesNothingElseForABody() throws {
        let whole = try bytes(of: body("a"))
        let codes = ["body.truncated", "body.boundary", "body.header", "body.metadata"]
        for cut in Damage.cuts(Array(whole[..<600]), count: 60) {
            #expect(codes.contains(refusal { try RealityCamBody(BundleSource(bytes: cut)) }?.code.rawValue ?? ""))
        }
        _ = try MultipartBody.write(bundle: bundle, to: .replacing(folder.path("capture")))
        #expect(
            refusal { _ = try RealityCamBody(BundleSource(path: FilePath(folder.path("capture")))) }?.code
                == .bodyBoundary)
        #expect(refusal { _ = try RealityCamBody(BundleSource(path: bundle)) }?.code == .bodyBoundary)
    }

    @Test func survivesChangedBytesOfTheFirstPart() throws {
        let whole = try bytes(of: body("a"))
        for index in stride(from: 0, to: 800, by: isLongRun ? 1 : 7) {
            var bytes = whole
            bytes[index] ^= 1
            // A changed body is refused, unless the change is in a value that only the server reads.
            guard let body = try? RealityCamBody(BundleSource(bytes: bytes)) else { continue }
            #expect(try body.sha256 == Digest.of(bytes))
        }
    }

    @Test func findsOneBoundaryOnly() throws {
        let own = Array("realitycam-".utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: 40)
        let bytes = MultipartBoundary.prefix + own.dropFirst(11) + own + own.dropLast() + [UInt8(ascii: "b")]
        var scanner = BoundaryScanner(of: own)
        var found: [[UInt8]] = []
        for byte in bytes { try scanner.scan([byte].span) { match in found.append(match) } }
        #expect(found == [own])
    }
}
