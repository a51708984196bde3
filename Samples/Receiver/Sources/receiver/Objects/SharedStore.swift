import CaptureBundle
import CaptureQueue
import Foundation
import QueueModel
import QueueTransports
import SystemPackage

/// The store that several receivers share: a bucket of an S3-compatible store. Its settings are in the file
/// `shared-store.json` of each receiver's folder; the credentials are not.
struct SharedStore {
    let settings: S3Settings

    /// Reads the settings of a folder; nil if the receiver does not share its devices.
    init?(of folder: ReceiverFolder) throws {
        guard FileManager.default.fileExists(atPath: folder.sharedStore.string) else { return nil }
        let data = try Data(contentsOf: URL(filePath: folder.sharedStore.string))
        let texts = try JSONDecoder().decode([String: String].self, from: data)
        guard case .s3(let settings) = try DestinationSettings(.s3, texts) else { return nil }
        self.settings = settings
    }

    init(url: String, region: String?, profile: String?, authorities: String?) {
        var settings = S3Settings(url: URLTemplate(url))
        (settings.region, settings.profile) = (region, profile)
        settings.connection.authorities = authorities.map { FilePath(URL(filePath: $0).path) }
        // The times are short, because a device waits while the receiver asks the store.
        settings.connection.connectTimeout = .seconds(5)
        settings.connection.answerTimeout = .seconds(10)
        self.settings = settings
    }

    /// Shares the devices of a folder from now on: copies them to the store, and writes the settings.
    ///
    /// - Returns: the number of copied devices.
    func adopt(_ folder: ReceiverFolder) throws -> Int {
        let objects = try S3Objects(settings)
        try Self.check(objects)
        var devices = 0
        let local = FolderObjects(folder: folder.shared)
        // Revocations come first, so that no revoked device is valid in between.
        for place in ["revoked/", "devices/", "keys/", "invitations/"] {
            for name in try local.names(place) {
                guard let bytes = try local.get(name) else { continue }
                let isNew = try objects.create(name, bytes)
                guard try isNew || objects.get(name) == bytes || place == "revoked/" else {
                    throw Unusable("\(name) of \(folder.path) differs from \(name) of the store")
                }
                if isNew, place == "devices/" { devices += 1 }
            }
        }
        try write(folder)
        return devices
    }

    private func write(_ folder: ReceiverFolder) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let bytes = Array(try encoder.encode(DestinationSettings.s3(settings).texts))
        guard try !WholeFile.create(folder.sharedStore, bytes) else { return }
        guard try SharedStore(of: folder)?.settings == settings else {
            throw Unusable("\(folder.sharedStore) has other settings; to change the store, delete it first")
        }
    }

    /// Checks that the store does not replace objects, because then two devices could register with one invitation.
    private static func check(_ objects: S3Objects) throws {
        let name = "checks/\(UUID().uuidString.lowercased())"
        guard try objects.create(name, []), try !objects.create(name, []) else {
            throw Unusable("the store replaces objects: it does not support If-None-Match")
        }
    }
}

extension S3Objects: ObjectStore {}

extension ReceiverFolder {
    var sharedStore: FilePath { path.appending("shared-store.json") }

    /// Opens the store of devices, invitations and revocations: the shared one, or else the folder's own.
    func objects() throws -> any ObjectStore {
        guard let shared = try SharedStore(of: self) else { return FolderObjects(folder: self.shared) }
        return try S3Objects(shared.settings)
    }
}
