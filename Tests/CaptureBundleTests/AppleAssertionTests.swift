import CaptureBundle
import CaptureNative
import CaptureTestSupport
import Foundation
import Testing

/// Tests with assertions of real Apple devices (App Attest, iOS 14.2 to 14.4), if they lie beside the checkout.
struct AppleAssertionTests {
    struct Sample: Sendable, CustomStringConvertible {
        let description: String
        let assertion: [UInt8]
        let clientData: [UInt8]
        let appID: String
        let pem: [UInt8]

        /// Reads one document of the YAML files. It needs only plain fields and one indented block.
        init?(_ document: String, name: String) throws {
            func field(_ name: String) -> String? {
                document.split(separator: "\n").first { $0.hasPrefix("\(name): ") }?.dropFirst(name.count + 2)
                    .description
            }
            guard let assertion = field("assertionBase64").flatMap(Base64.decode) else { return nil }
            self.assertion = assertion
            description = name
            clientData = try #require(field("clientDataBase64").flatMap(Base64.decode))
            appID = try #require(field("teamIdentifier")) + "." + #require(field("bundleIdentifier"))
            let block = document.split(separator: "\n").drop { !$0.hasPrefix("publicKey: |") }.dropFirst()
            let lines = block.prefix { $0.hasPrefix(" ") }.map { $0.trimmingCharacters(in: .whitespaces) + "\n" }
            pem = Array(lines.joined().utf8)
        }
    }

    static let samples: [Sample] =
        (try? Places.shared("appattest")?.children)?.flatMap { file -> [Sample] in
            guard file.pathExtension == "yaml", let text = try? String(contentsOf: file, encoding: .utf8) else {
                return []
            }
            return text.split(separator: "\n---\n").compactMap {
                try? Sample(String($0), name: file.lastPathComponent)
            }
        } ?? []

    @Test(.enabled(if: Places.shared("appattest") != nil, "needs the App Attest vectors of the shared folder"))
    func thereAreSamples() { #expect(Self.samples.count >= 5) }

    @Test(.enabled(if: !samples.isEmpty, "needs the App Attest vectors of the shared folder"), arguments: samples)
    func verifiesAGenuineAssertionAndNothingElse(_ sample: Sample) throws {
        let assertion = try Assertion(decoding: sample.assertion)
        let key = try #require(try P256PublicKey(pem: sample.pem))
        #expect(assertion.authenticatorData.kind == .apple)
        #expect(assertion.authenticatorData.counter == 1)
        #expect(assertion.authenticatorData.rpIDHash == (try Digest.of(Array(sample.appID.utf8))))
        #expect(try assertion.verifies(clientData: sample.clientData, key: key))
        #expect(try !assertion.verifies(clientData: sample.clientData + [0], key: key))
        for index in sample.assertion.indices {
            for bit in 0..<8 {
                var bytes = sample.assertion
                bytes[index] ^= 1 << bit
                guard let changed = try? Assertion(decoding: bytes) else { continue }
                let isAccepted = try changed.verifies(clientData: sample.clientData, key: key)
                if isAccepted { Issue.record("bit \(bit) of byte \(index)") }
            }
        }
    }
}
