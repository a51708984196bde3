import CaptureBundle
import GRDB

struct CaptureRow: Codable, FetchableRecord, PersistableRecord, Sendable {
    /// The position in the order of arrival; nil before the row is in the index.
    var number: Int?
    let id: String
    /// The UUID of the device, and its name at that time.
    let device: String
    let deviceName: String
    /// The time that the device claims: `2026-03-14T14:09:26.535Z`.
    let capturedAt: String
    /// Unix time in milliseconds.
    let receivedAt: Int
    /// The verdict when the capture arrived: `verified`, or `withheld` if it lacked entries.
    let verdict: String
    /// The hash of the photo in hex; nil if the bundle has no photo.
    let photoSha256: String?
    /// Whether the bundle has a place that is not withheld.
    let hasPlace: Bool
    /// What a time stamp has to be over, in hex, while the index has none; nil afterwards.
    let unstamped: String?

    static let databaseTableName = "captures"
    /// A capture that the index has keeps its row.
    static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .ignore)

    static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase
    static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase

    init(
        _ id: String, _ device: RegisteredDevice, _ manifest: Manifest, _ report: VerificationReport, verdict: String,
        at time: Int
    ) {
        self.id = id
        self.device = device.id
        deviceName = device.line.name
        capturedAt = manifest.capturedAt.description
        receivedAt = time
        self.verdict = report.withheld.isEmpty ? verdict : "withheld"
        photoSha256 = manifest.entry(.photo)?.sha256.description
        hasPlace = manifest.entry(.location) != nil && !report.withheld.contains(.location)
        unstamped = report.assertionSHA256?.description
    }
}
