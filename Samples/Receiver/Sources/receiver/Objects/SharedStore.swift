import CaptureBundle
import CaptureQueue
import Foundation
import QueueModel
import QueueTransports
import SystemPackage

extension S3Objects: ObjectStore {}

/// The store that several receivers share: a bucket of an S3-compatible store. Its settings are in the file
/// `shared-store.json` of each receiver's folder; the credentials are not.
extension ReceiverFolder {
    private var sharedStore: FilePath { path.appending("shared-store.json") }

    /// Opens the store of devices, invitations and revocations: the shared one, or else the folder's own.
    func objects() throws -> any ObjectStore {
        try sharedSettings().map { try S3Objects($0) } ?? FolderObjects(folder: shared)
    }

    private func sharedSettings() throws -> S3Settings? {
        guard FileManager.default.fileExists(atPath: sharedStore.string) else { return nil }
        let data = try Data(contentsOf: URL(filePath: sharedStore.string))
        let texts = try JSONDecoder().decode([String: String].self, from: data)
        guard case .s3(let settings) = try DestinationSettings(.s3, texts) else { return nil }
        return settings
    }

    /// Shares the devices of the folder from now on: copies them to the store, and writes the settings.
    ///
    /// - Returns: the number of copied devices.
    func share(_ settings: S3Settings) throws -> Int {
        let objects = try S3Objects(settings)
        // Otherwise two devices could register with one invitation.
        let name = "checks/\(UUID().uuidString.lowercased())"
        guard try objects.create(name, []), try !objects.create(name, []) else {
            throw Unusable("the store replaces objects: it does not support If-None-Match")
        }
        var devices = 0
        let local = FolderObjects(folder: shared)
        // Revocations come first, so that no revoked device is valid in between.
        for place in ["revoked/", "devices/", "keys/", "invitations/"] {
            for name in try local.names(place) {
                guard let bytes = try local.get(name) else { continue }
                let isNew = try objects.create(name, bytes)
                guard try isNew || objects.get(name) == bytes || place == "revoked/" else {
                    throw Unusable("\(name) of \(path) differs from \(name) of the store")
                }
                if isNew, place == "devices/" { devices += 1 }
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let bytes = Array(try encoder.encode(DestinationSettings.s3(settings).texts))
        guard try WholeFile.create(sharedStore, bytes) || sharedSettings() == settings else {
            throw Unusable("\(sharedStore) has other settings; to use another store, delete this file first")
        }
        return devices
    }
}
