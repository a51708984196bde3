import CaptureBundle
import CaptureNative
import CaptureTestSupport
import Foundation
import Testing

/// The reader refuses every changed upload body, in pieces of any size, and never traps.
struct BodyTests {
    private let body: [UInt8]
    private let receiver: BundleReceiver
    private let folder: TemporaryFolder

    init() throws {
        let vector = try VectorFile(Places.vectors.appending(path: "multipart/multipart_minimal"))
        body = vector.content
        receiver = BundleReceiver(trust: try TrustFile(bytes: Array((vector.trust[0] + "\n").utf8), name: "trust"))
        folder = try TemporaryFolder()
    }

    private func verdict(_ bytes: [UInt8]) throws -> Verdict {
        let received = try receiver.receive(BundleSource(bytes: bytes), to: .replacing(folder.path("made")))
        let isThere = FileManager.default.fileExists(atPath: folder.path("made"))
        if received.isKept != isThere { Issue.record("kept \(received.isKept), there \(isThere)") }
        if isThere { try FileManager.default.removeItem(atPath: folder.path("made")) }
        return received.report.verdict
    }

    /// Tomcat takes 50 parts, and several parsers of forms fail at an empty one.
    @Test func warnsOfManyPartsAndOfAnEmptyOne() throws {
        func remarks(_ vector: String) throws -> String {
            let bytes = try VectorFile(Places.vectors.appending(path: "valid/\(vector)")).content
            // The size of manifest.json is in octal in its header, after the magic.
            let size = try #require(Int(String(decoding: bytes[1148..<1159], as: UTF8.self), radix: 8))
            let manifest = Array(bytes[1536..<(1536 + size)])
            let facts = BodyFacts(
                try Manifest.decode(manifest), manifest, assertion: [], deviceModel: "", position: nil)
            return try BodyLayout(facts, name: "cap.bundle").body.remarks.joined(separator: "; ")
        }
        let many = try remarks("valid_entries_4096")
        #expect(many.contains("has 4099 parts") && many.contains("has the empty part source/"), "\(many)")
        #expect(try !remarks("valid_location").contains("some servers"))
    }

    @Test func refusesFlippedBitsPrefixesAndBytesTooMany() throws {
        #expect(try verdict(body) == .verified)
        for bytes in Damage.flips(body, count: 60) {
            let verdict = try verdict(bytes)
            if verdict != .malformed && verdict != .altered {
                Issue.record("byte \(bytes.indices.first { bytes[$0] != body[$0] } ?? 0): \(verdict)")
            }
        }
        for bytes in Damage.cuts(body, count: 60) {
            let verdict = try verdict(bytes)
            if verdict != .malformed { Issue.record("\(bytes.count) bytes: \(verdict)") }
        }
        for byte in [0, 10, 13, 45] as [UInt8] { #expect(try verdict(body + [byte]) == .malformed) }
    }

    @Test(arguments: isLongRun ? [1, 2, 7, 54, 55, 56, 4096] : [1, 55])
    func judgesAllVectorsAlikeHoweverTheyCome(_ step: Int) throws {
        for vector in try VectorFile.oneOfEachKind("multipart") where vector.content.count < 20_000 {
            guard let trust = try? TrustFile(bytes: vector.trustFile, name: "trust")
            else { continue }
            let receiver = BundleReceiver(trust: trust)
            let whole = try receiver.receive(BundleSource(bytes: vector.content), to: .replacing(folder.path("a")))
            let stream = BundleSource(stream: Trickle(vector.content, of: step), name: "bundle")
            let pieces = try receiver.receive(stream, to: .replacing(folder.path("b")))
            #expect(whole.report.faults == pieces.report.faults, "\(vector)")
            #expect(whole.isKept == pieces.isKept && whole.report.bytes == pieces.report.bytes, "\(vector)")
        }
    }

    @Test func findsBoundariesAcrossPieces() throws {
        var generator = SeededGenerator(seed: 3)
        let mark = MultipartBoundary.prefix + [UInt8](repeating: UInt8(ascii: "0"), count: 40)
        for _ in 0..<(isLongRun ? 300 : 60) {
            var bytes: [UInt8] = []
            var expected = 0
            for _ in 0..<Int.random(in: 1..<6, using: &generator) {
                bytes += (0..<Int.random(in: 0..<90, using: &generator)).map { _ in UInt8(ascii: "c") }
                if Bool.random(using: &generator) {
                    bytes += mark
                    expected += 1
                }
            }
            var scanner = BoundaryScanner()
            var found = 0
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = Array(rest.prefix(Int.random(in: 1..<100, using: &generator)))
                rest = rest.dropFirst(piece.count)
                try scanner.scan(piece.span) { match in
                    if match == mark { found += 1 }
                }
            }
            #expect(found == expected)
        }
    }
}
