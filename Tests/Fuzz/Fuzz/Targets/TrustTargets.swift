import CaptureBundle
import CaptureTestSupport
import SystemPackage

@testable import CaptureDevice

/// The trust file.
enum TrustTarget: FuzzTarget {
    static let name = "trust"

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        samples.trustLines.map { $0 + [0x0a] }
            + [Array("# comment\n\n".utf8) + samples.trustLines.prefix(3).joined(separator: [0x0a])]
    }

    static func judge(_ bytes: [UInt8]) {
        let file = Cost.bounded(bytes.count) { try? TrustFile(bytes: bytes, name: "trust") }
        for device in file?.devices ?? [] {
            expect((try? TrustedDeviceLine(parsing: device.text)) == device, "a line is written differently")
        }
    }
}

/// The state that a disk key keeps between signatures.
enum KeyStateTarget: FuzzTarget {
    static let name = "key-state"

    static func seeds(_ samples: Samples) throws -> [[UInt8]] {
        var state = DeviceKeyState(
            keyID: try Digest.of([1]), counter: 7, salt: [UInt8](repeating: 0xab, count: 32))
        let plain = try state.encode()
        state.chain.last = ChainRecord.End(seq: 3, manifest: try Digest.of([2]))
        let chained = try state.encode()
        let files = PendingLink.Files(temporary: "/rig/.new.bundle", target: "/rig/new.bundle")
        for (counter, files) in [(6, files), (7, nil)] as [(UInt32, PendingLink.Files?)] {
            guard let link = state.chain.end?.next else { break }
            let manifest = try Digest.of([UInt8(counter)])
            state.chain.pending.append(PendingLink(link, counter: counter, manifest: manifest, files: files))
        }
        let pending = try state.encode()
        state.realityCamHeader = 5
        let signing = try state.encode()
        state.chain.last = nil
        state.chain.pending = []
        return [plain, chained, pending, signing, try state.encode()]
    }

    static func judge(_ bytes: [UInt8]) {
        let state = Cost.bounded(bytes.count) { try? DeviceKeyState.decode(bytes) }
        guard let state = state.flatMap(\.self) else { return }
        expect((try? state.encode()) == bytes, "the state encodes to other bytes")
    }
}
