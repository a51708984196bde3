import CaptureBundle
import CaptureTestSupport
import Foundation
import Testing

/// Every file of Spec/Vectors, as this library judges it.
struct VectorTests {
    @Test func thereAreVectorsForEveryPart() throws {
        let parts = Set(try VectorFile.all().map { $0.name.prefix { $0 != "/" } })
        #expect(
            parts == [
                "assertion", "container", "depth", "entry", "location", "manifest", "metadata", "policy", "trust",
                "valid",
            ])
    }

    @Test(arguments: try VectorFile.all())
    func isJudgedAsItsHeaderSays(_ vector: VectorFile) throws {
        let trust: TrustFile
        do {
            trust = try TrustFile(bytes: Array(vector.trust.map { $0 + "\n" }.joined().utf8), name: "trust")
        } catch {
            #expect(vector.expectedExit == 78 && vector.expectedCodes == [error.code.rawValue])
            return
        }
        let report = try Verifier(trust: trust, policy: Self.policy(vector.arguments))
            .verify(BundleSource(bytes: vector.bundle))
        #expect(report.verdict.rawValue == vector.expectedExit, "\(report.faults)")
        #expect(Set(report.faults.map(\.code.rawValue)).sorted() == vector.expectedCodes, "\(report.faults)")
    }

    private static func policy(_ arguments: [String]) -> VerificationPolicy {
        var policy = VerificationPolicy()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--allow-withheld": policy.allowsWithheld = true
            case "--require":
                let words = rest.popFirst()?.split(separator: ",").map(String.init) ?? []
                policy.required = words.compactMap(VerificationPolicy.Part.init(rawValue:))
                #expect(!words.isEmpty && policy.required.count == words.count)
            default: Issue.record("unknown argument \(argument)")
            }
        }
        return policy
    }
}
