import QueueModel
import Testing

struct SQLiteVersionTests {
    @Test(arguments: ["3.7.17", "3.40.1", "3.44.5", "3.45.0", "3.46.1", "3.50.6", "3.51.0", "3.51.2"])
    func hasTheRaceBeforeTheFix(_ version: String) { #expect(SQLiteVersion(version).hasResetRace) }

    @Test(arguments: ["3.44.6", "3.50.7", "3.50.10", "3.51.3", "3.52.0", "3.53", "4.0.0"])
    func hasNoRaceWithTheFix(_ version: String) { #expect(!SQLiteVersion(version).hasResetRace) }
}
