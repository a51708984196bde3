import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CaptureBundle

/// Time stamps as a library sees them; Tests/Stamps tries to get a false time accepted.
struct StampTests {
    private let trust: TrustFile
    private let bundle: [UInt8]

    init() throws {
        let folder = try TemporaryFolder()
        let device = try TrustedDeviceLine(
            name: "desk-lamp",
            point: PublicKeyFile.point(path: FilePath(Places.sample.appending(path: "device.pem").path())))
        try folder.write("\(device.text)\n\(StampSample.line)\n", to: "trust")
        trust = try TrustFile(path: folder.path("trust"))
        bundle = try Places.sample.appending(path: "desk-lamp.bundle").bytes
    }

    private func verify(_ stamp: [UInt8]?, _ trust: TrustFile? = nil) throws -> VerificationReport {
        try Verifier(trust: trust ?? self.trust).verify(
            BundleSource(bytes: bundle), stamp: stamp.map { TimeStamp(bytes: $0) })
    }

    @Test func saysWhenTheSignatureExisted() throws {
        let report = try verify(StampSample.bytes)
        #expect(report.verdict == .verified && report.warnings.isEmpty)
        #expect(report.stamp?.time.description == "2026-03-14T15:00:00.000Z")
        #expect(report.stamp?.accuracy == .seconds(1) && report.stamp?.authority == "office")
        #expect(try verify(nil).stamp == nil)
    }

    @Test func helpsAKeyThatWasRevokedLater() throws {
        for (time, verdict) in [
            ("2026-03-14T15:00:01Z", Verdict.unacceptable), ("2026-03-14T15:00:01.001Z", .verified),
        ] {
            var trust = trust
            #expect(try trust.revoke(name: "desk-lamp", .since(TrustedDeviceLine.time(time))) == 1)
            #expect(try verify(StampSample.bytes, trust).verdict == verdict)
            #expect(try verify(nil, trust).verdict == .unacceptable)
            #expect(try trust.revoke(name: "desk-lamp", .since(TrustedDeviceLine.time("2027-01-01"))) == 0)
            #expect(try trust.revoke(name: "desk-lamp") == 1)
            #expect(try verify(StampSample.bytes, trust).verdict == .unacceptable)
        }
    }

    /// No damage makes a stamp say anything else, and little of it goes unnoticed: what is not signed, and changes no
    /// meaning. That is the status 1 in place of 0, versions of CMS, NULL parameters, capital letters in the issuer's
    /// name, and the name of the signature algorithm, which the key of the certificate decides.
    @Test func isRefusedOrUnchangedWithADamagedByte() throws {
        let whole = StampSample.bytes
        let report = try verify(whole)
        let (imprint, capturedAt) = (try #require(report.assertionSHA256), try #require(report.manifest?.capturedAt))
        func time(_ bytes: [UInt8]) throws -> StampedTime? {
            let check = StampCheck(stamp: TimeStamp(bytes: bytes), authorities: trust.authorities)
            do { return try check.time(imprint: imprint, capturedAt: capturedAt) } catch {
                #expect(error.verdict == .unacceptable, "\(error)")
                return nil
            }
        }
        for count in 0..<whole.count { #expect(try time(Array(whole[..<count])) == nil) }
        var unnoticed = 0
        for bit in stride(from: 0, to: whole.count * 8, by: isLongRun ? 1 : 5) {
            var changed = whole
            changed[bit / 8] ^= 1 << (bit % 8)
            guard let time = try time(changed) else { continue }
            #expect(time == report.stamp)
            unnoticed += 1
        }
        #expect((1...120).contains(unnoticed), "\(unnoticed) of \(whole.count * 8) changed bits go unnoticed")
    }

    @Test func writesAQueryThatItReads() throws {
        let imprint = try Digest.of([1])
        let query = try StampQuery(imprint: imprint)
        #expect((0x01...0x7f).contains(query.nonce[0]) && query.nonce.count == 8)
        #expect(StampQuery(query.bytes, imprint: imprint)?.nonce == query.nonce)
        #expect(try StampQuery(query.bytes, imprint: Digest.of([2])) == nil)
        for count in 0..<query.bytes.count {
            #expect(StampQuery(Array(query.bytes[..<count]), imprint: imprint) == nil)
        }
        #expect(StampQuery(query.bytes + [0], imprint: imprint) == nil)
    }

    @Test func keepsLinesOfAuthoritiesAsTheyWereWritten() throws {
        let folder = try TemporaryFolder()
        let written = StampSample.line.replacing(" tsa ", with: "   valid-before=2027-01-01  tsa\t")
        try folder.write("\(written)\n\(StampSample.line.replacing("office", with: "other"))\n", to: "trust")
        let count = try TrustFile.update(path: folder.path("trust")) { file in
            try file.revoke(name: "other")
        }
        #expect(count == 1)
        let text = String(decoding: try folder.bytes("trust"), as: UTF8.self)
        #expect(text.hasPrefix("\(written)\nother revoked tsa "))
        #expect(try TrustFile(path: folder.path("trust")).authorities.map(\.isRevoked) == [false, true])
    }
}
