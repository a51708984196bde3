import CaptureBundle
import CaptureTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

/// This library comes to the expected result for every file of Spec/Vectors.
struct VectorTests {
    @Test func thereAreVectorsForEveryPart() throws {
        #expect(
            try VectorFile.parts() == [
                "assertion", "chain", "container", "depth", "entry", "exif", "location", "manifest", "metadata",
                "multipart", "policy", "request", "state", "trust", "valid",
            ])
        for part in try VectorFile.parts() { #expect(try !VectorFile.all(of: part).isEmpty) }
    }

    @Test(arguments: try VectorFile.bundles())
    func isJudgedAsItsHeaderSays(_ vector: VectorFile) throws {
        let trust: TrustFile
        do {
            trust = try TrustFile(bytes: vector.trustFile, name: "trust")
        } catch {
            #expect(vector.expectedExit == 78 && vector.expectedCodes == [error.code.rawValue])
            return
        }
        let report = try Verifier(trust: trust, policy: Self.policy(vector.arguments))
            .verify(BundleSource(bytes: vector.content))
        #expect(report.verdict.rawValue == vector.expectedExit, "\(report.faults)")
        #expect(Set(report.faults.map(\.code.rawValue)).sorted() == vector.expectedCodes, "\(report.faults)")
    }

    @Test(arguments: try VectorFile.all(of: "multipart"))
    func bodyIsReadAsItsHeaderSays(_ vector: VectorFile) throws {
        guard let trust = try? TrustFile(bytes: vector.trustFile, name: "trust")
        else {
            #expect(vector.expectedExit == 78)
            return
        }
        let folder = try TemporaryFolder()
        let received = try BundleReceiver(trust: trust, policy: Self.policy(vector.arguments))
            .receive(BundleSource(bytes: vector.content), to: .file(folder.path("made")))
        #expect(received.report.verdict.rawValue == vector.expectedExit, "\(received.report.faults)")
        #expect(
            Set(received.report.faults.map(\.code.rawValue)).sorted() == vector.expectedCodes,
            "\(received.report.faults)")
        #expect(received.isKept == (vector.bundleSHA256 != nil))
        guard received.isKept else { return }
        #expect(try RequestSignature.hash(BundleSource(path: folder.path("made"))).description == vector.bundleSHA256)
        _ = try MultipartBody.write(bundle: folder.path("made"), to: .file(folder.path("again")))
        #expect(try folder.bytes("again") == vector.content)
    }

    @Test(arguments: try VectorFile.all(of: "chain"))
    func chainIsJudgedAsItsHeaderSays(_ vector: VectorFile) throws {
        guard (try? TrustFile(bytes: Array(vector.trust.map { $0 + "\n" }.joined().utf8), name: "trust")) != nil else {
            #expect(vector.expectedExit == 78)
            return
        }
        let folder = try TemporaryFolder()
        for (index, content) in ([vector.content] + vector.sides).enumerated() {
            try folder.write(content, to: "\(index)")
        }
        let places = Mutex((0...vector.sides.count).map { folder.path("\($0)") as FilePath }[...])
        let chains = ChainCollection()
        var faults: [BundleError.Code] = []
        try ChainHead.readAll(next: { places.withLock { $0.popFirst() }.map { .success(.file($0)) } }) {
            head in
            switch head.finding {
            case .link(let record): try chains.add(record, file: head.file)
            case .faulty(let found): faults += found.map(\.code)
            case .noLink: break
            case .unreadable(let error): throw error
            }
        }
        try chains.walk { event in if case .fault(let fault) = event { faults.append(fault.code) } }
        #expect(Set(faults.map(\.rawValue)).sorted() == vector.expectedCodes)
        #expect(Verdict.worst(of: faults.map { BundleError($0, "") }).rawValue == vector.expectedExit)
    }

    @Test(arguments: try VectorFile.all(of: "request"))
    func requestIsJudgedAsItsHeaderSays(_ vector: VectorFile) throws {
        let request = try #require(vector.request)
        let device = try DevicePoint(bytes: #require(Base64.decode(request.point)))
        let signature = RequestSignature(
            deviceID: request.deviceID, timestamp: request.timestamp, signature: request.signature)
        var codes: [String] = []
        do throws(BundleError) {
            try signature.verify(body: RequestSignature.hash(BundleSource(bytes: vector.content)), device: device)
        } catch {
            codes = [error.code.rawValue]
        }
        #expect(codes == vector.expectedCodes)
        #expect((vector.expectedExit == 0) == codes.isEmpty)
    }

    static func policy(_ arguments: [String]) -> VerificationPolicy {
        var policy = VerificationPolicy()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--allow-withheld": policy.allowsWithheld = true
            case "--require":
                let words = rest.popFirst()?.split(separator: ",").map(String.init) ?? []
                #expect(!words.isEmpty && words.allSatisfy { policy.require($0) })
            default: Issue.record("unknown argument \(argument)")
            }
        }
        return policy
    }
}
