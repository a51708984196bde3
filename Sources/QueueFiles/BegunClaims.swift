import CaptureBundle
package import CaptureNative
package import QueueModel
import SystemPackage

/// Which claims of a run have begun to be sent, so that after a kill the others can be given back (Spec/queue.md
/// section 6).
///
/// The file `run.begun` has the boot id and the number of the run in hex, padded with zeros to 128 bytes, and then the
/// tokens of the last claims that began, each in a slot of 16 bytes. It is not synced: a kill of the process takes back
/// nothing that was written, and after a restart of the machine the file is not believed.
package struct BegunClaims: Sendable {
    /// The number of a run, with which the tokens of its claims begin: 64 random bits. The runs of one process share it,
    /// because each recovers the claims of the one before.
    package static let number = (0..<8).map { _ in UInt8.random(in: .min ... .max) }

    private static let headBytes = 128
    private static let tokenBytes = 16
    private static let most = 1 << 20

    private let file: FileHandle

    init(file: FileHandle) { self.file = file }

    /// Makes the file for a run of this process.
    package init(in folder: QueueFolder) throws(QueueError) {
        let path = folder.begunFile
        file = try onFile(path) {
            let file = try FileHandle.open(path, FileHandle.newOrExistingFile, mode: 0o600)
            try file.shorten(to: 0)
            let head = Array("\(BootClock.identity) \(Hex.encode(Self.number))".utf8)
            try file.write(head + Array(repeating: 0, count: max(0, Self.headBytes - head.count)), at: 0)
            return file
        }
    }

    /// Records that the claim with a token begins, before the first byte is sent. The claim that had the slot before is settled.
    package func begin(_ token: [UInt8], slot: Int) throws(NativeError) {
        try file.write(token, at: Self.headBytes + slot * Self.tokenBytes)
    }

    package static func remove(_ folder: QueueFolder) { _ = folder.remove("run.begun") }

    /// The last run of this start of the machine, as far as its file is there.
    package struct LastRun {
        private let number: String
        private let tokens: Set<[UInt8]>

        package init?(in folder: QueueFolder) {
            guard let file = try? FileHandle.reading(folder.begunFile, followsLinks: false),
                let bytes = try? file.readAll(limit: BegunClaims.most), bytes.count >= BegunClaims.headBytes
            else { return nil }
            let head = String(decoding: bytes[..<BegunClaims.headBytes].prefix { $0 != 0 }, as: UTF8.self)
            let words = head.pieces(by: " ")
            guard words.count == 2, words[0] == BootClock.identity else { return nil }
            number = words[1]
            let slots = stride(from: BegunClaims.headBytes, to: bytes.count, by: BegunClaims.tokenBytes)
            tokens = Set(slots.map { Array(bytes[$0..<min($0 + BegunClaims.tokenBytes, bytes.count)]) })
        }

        /// Whether a claim was made by that run and never began.
        package func neverBegan(_ token: [UInt8]) -> Bool {
            Hex.encode(Array(token.prefix(BegunClaims.number.count))) == number && !tokens.contains(token)
        }
    }
}
