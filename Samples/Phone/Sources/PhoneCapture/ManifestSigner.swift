import Foundation

/// Signs manifests: `KeySigner` with a P-256 key, `AppAttestSigner` with a key of App Attest.
public protocol ManifestSigner: Sendable {
    /// The device key that the manifest names: its uncompressed point, 65 bytes.
    var publicKey: Data { get }

    /// Returns an assertion as App Attest makes it: CBOR with `signature` and `authenticatorData`. The signature is over
    /// SHA-256(authenticatorData ‖ clientDataHash), with a counter that no other assertion of the key has.
    func assertion(clientDataHash: Data) async throws -> Data
}

/// Signs manifests with a P-256 key, which Spec/capture-bundle.md calls a disk key.
public struct KeySigner: ManifestSigner {
    private let key: DeviceKey
    private let counter: SignatureCounter

    public init(_ key: DeviceKey, counter: SignatureCounter) { (self.key, self.counter) = (key, counter) }

    public var publicKey: Data { key.publicKey }

    public func assertion(clientDataHash: Data) async throws -> Data {
        let count = try await counter.next()
        let data =
            Hash.sha256(Data("capture-bundle.device-key".utf8)) + [0] + [24, 16, 8, 0].map { UInt8(count >> $0 & 255) }
        let signature = try key.signature(of: Hash.sha256(data + clientDataHash))
        return Assertion(signature: signature, authenticatorData: data).bytes
    }
}

/// The counter of a P-256 key, in a file: its length is the last number, and each signature appends a byte and syncs it.
///
/// An app creates the empty file with the key and keeps it beside the key. Without the file the key must not be used.
/// Only one object, in one process, uses the file.
public actor SignatureCounter {
    private let file: URL

    public init(_ file: URL) { self.file = file }

    /// Returns the next number from 1 to 2^32 − 1. It is stored before this returns, so that no crash brings it back.
    func next() throws -> UInt32 {
        guard let handle = try? FileHandle(forUpdating: file) else { throw CaptureError("no counter in \(file.path)") }
        defer { try? handle.close() }
        let last = try handle.seekToEnd()
        guard last < UInt32.max else { throw CaptureError("the key has used up its counters") }
        try handle.write(contentsOf: Data([0]))
        try handle.synchronize()
        return UInt32(last + 1)
    }
}
