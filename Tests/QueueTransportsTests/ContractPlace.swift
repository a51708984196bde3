import CaptureBundle
import CaptureNative
import CaptureTestSupport
import Foundation
import QueueModel
import QueueTransports
import SystemPackage

/// A destination of one kind on a real server, and a capture for it.
struct ContractPlace {
    let kind: Destination.Kind
    let destination: Destination
    let capture: CaptureRecord
    /// The path of the capture's bundle.
    let file: FilePath
    private let servers: ContractServers
    private let photo: Digest
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - mark: a text that makes bundle and photo different from all others.
    ///   - isThere: false for an address where no server listens, or for a folder without its marker.
    init(_ kind: Destination.Kind, _ mark: String, isThere: Bool = true) throws {
        self.kind = kind
        servers = try ContractServers.shared.get()
        folder = try TemporaryFolder()
        file = try servers.room.bundle("\(kind.rawValue)-\(mark)")
        let handle = try FileHandle.reading(file)
        let head = try UnverifiedHead(BundleSource(handle: handle, name: file.string))
        photo = head.manifest.entry(.photo)?.sha256 ?? head.manifestSHA256
        let bytes = try handle.status().size
        try handle.seekToStart()
        capture = CaptureRecord(
            sequence: 1, id: head.manifest.id,
            identity: head.manifestSHA256,
            sha256: try FileDigest.sha256(handle), manifestSHA256: head.manifestSHA256, byteCount: bytes,
            capturedAt: head.manifest.capturedAt, device: head.manifest.device.keyID, verdict: "verified", pushedAt: 0,
            session: nil, priority: 0, notBefore: nil, holding: .reference, reference: file.string, state: .pending,
            finishedAt: nil, removedAt: nil)
        destination = Destination(
            name: "contract", kind: kind.rawValue,
            settings: try Self.settings(kind, servers, folder, isThere: isThere), isDefault: true, addedAt: 0,
            saved: .init(), isPaused: false, isPausedAtOnce: false, lifts: 0, number: 1)
    }

    private static func settings(
        _ kind: Destination.Kind, _ servers: ContractServers, _ folder: TemporaryFolder, isThere: Bool
    ) throws -> [String: String] {
        // The kernel never assigns port 1, and no server on the test machines listens there.
        let nobody = "http://127.0.0.1:1"
        let addresses = servers.addresses
        switch kind {
        case .folder:
            let (path, marker) = try FolderTransport.mark(FilePath(folder.path), queue: "/nonexistent")
            return ["path": path.string, "marker": isThere ? marker : String(repeating: "0", count: 64)]
        case .http:
            return [
                "url": isThere ? addresses.http : nobody, "device-id": addresses.device,
                "key": servers.room.path("keys/device.key"),
            ]
        case .put: return ["url": "\(isThere ? addresses.put : nobody)/store/{sha256}"]
        case .s3: return ["url": isThere ? addresses.s3 : "\(nobody)/captures", "profile": "contract"]
        }
    }

    func transport() throws -> any UploadTransport { TransportShares().make(destination) { _ in } }

    func job(attempt: Int = 1, remoteID: String? = nil, of other: FilePath? = nil) -> SendJob {
        let delivery = DeliveryRecord(
            number: 1, destination: destination.name, state: .uploading, priority: 0, dueAt: 0, attempts: attempt,
            leaseUntil: nil, completedAt: nil, receipt: nil, remoteID: remoteID, remoteURL: nil, errorCode: nil,
            errorMessage: nil, isInDoubt: false, polls: 0, idempotencyKey: "5f0c3c1a-6f1b-4d3e-8a52-\(key)",
            capture: 1)
        return SendJob(
            capture, delivery, token: [1, 2, 3, 4], now: 0, file: other ?? file, isAnother: { _, _ in false },
            keepBody: { _ in })
    }

    /// Twelve digits that differ for each capture.
    private var key: String { String(capture.sha256.description.suffix(12)) }

    /// The number of copies that the destination has.
    func copies() throws -> Int {
        guard kind == .folder else {
            return try servers.holds(kind.rawValue, (kind == .http ? photo : capture.sha256).description)
        }
        let bytes = try file.bytes
        return try folder.url.children.filter { try $0.lastPathComponent.hasSuffix(".bundle") && $0.bytes == bytes }
            .count
    }

    /// Deletes all copies at the destination.
    func forget() throws {
        guard kind == .folder else { return try servers.forget(kind.rawValue) }
        for file in try folder.url.children where file.lastPathComponent.hasSuffix(".bundle") {
            try FileManager.default.removeItem(at: file)
        }
    }

    /// Writes a file that differs from the bundle in one byte.
    func spoilt() throws -> FilePath {
        let spoilt: FilePath = folder.path("spoilt")
        try FileManager.default.copyItem(atPath: file, toPath: spoilt)
        try spoilt.damage()
        return spoilt
    }
}
