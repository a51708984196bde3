package import CaptureNative
package import QueueModel
import SystemPackage

/// Which claims of a run have begun to be sent, so that after a kill the others can be given back (Spec/queue.md
/// section 6).
///
/// The file `run.begun` has the owner of the run, padded with zeros to 128 bytes, and then the tokens of the last claims
/// that began, each in a slot of 16 bytes. It is not synced: a kill of the process takes back nothing that was written,
/// and after a restart of the machine the file is not believed.
package struct BegunClaims: Sendable {
    private static let ownerBytes = 128
    private static let tokenBytes = 16
    private static let most = 1 << 20

    private let file: FileHandle

    /// Makes the file for a run of this process.
    package init(in folder: QueueFolder) throws(QueueError) {
        let path = folder.begunFile
        file = try onFile(path) {
            let file = try FileHandle.open(path, FileHandle.newOrExistingFile, mode: 0o600)
            try file.shorten(to: 0)
            let owner = Array(ProcessIdentity.current.owner.utf8)
            try file.write(owner + Array(repeating: 0, count: Self.ownerBytes - owner.count), at: 0)
            return file
        }
    }

    /// Records that the claim with a token begins, before the first byte is sent. The claim that had the slot before is settled.
    package func begin(_ token: [UInt8], slot: Int) throws(NativeError) {
        try file.write(token, at: Self.ownerBytes + slot * Self.tokenBytes)
    }

    package static func remove(_ folder: QueueFolder) { _ = folder.remove("run.begun") }

    /// The last run of this start of the machine, as far as its file is there.
    package struct LastRun {
        private let owner: String
        private let tokens: Set<[UInt8]>

        package init?(in folder: QueueFolder) {
            guard let file = try? FileHandle.reading(folder.begunFile, followsLinks: false),
                let bytes = try? file.readAll(limit: BegunClaims.most), bytes.count >= BegunClaims.ownerBytes
            else { return nil }
            owner = String(decoding: bytes[..<BegunClaims.ownerBytes].prefix { $0 != 0 }, as: UTF8.self)
            guard ProcessIdentity(owner: owner)?.boot == BootClock.identity else { return nil }
            let slots = stride(from: BegunClaims.ownerBytes, to: bytes.count, by: BegunClaims.tokenBytes)
            tokens = Set(slots.map { Array(bytes[$0..<min($0 + BegunClaims.tokenBytes, bytes.count)]) })
        }

        /// Whether a claim was made by that run and never began.
        package func neverBegan(_ token: [UInt8], of owner: String) -> Bool {
            owner == self.owner && !tokens.contains(token)
        }
    }
}

extension ProcessIdentity {
    /// The process that holds a claim, distinguished from later processes with the same number.
    package var owner: String { "\(boot) \(number) \(started)" }

    package init?(owner: String) {
        let parts = owner.pieces(by: " ", keepsEmpty: true)
        guard parts.count == 3, let number = Int(parts[1]), let started = Int(parts[2]) else { return nil }
        self.init(boot: parts[0], number: number, started: started)
    }
}
