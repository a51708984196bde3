import CaptureTestSupport
import Foundation
import QueueModel
import QueueTransports
import Synchronization
import Testing

/// Write-once objects in SeaweedFS.
struct S3ObjectsTests {
    private let settings: [String: String]

    init() throws {
        let server = try StoreServer.shared.get()
        settings = ["url": "\(server.address.url)/objects/\(UUID().uuidString)", "profile": "test"]
    }

    @Test func createsAnObjectOnce() throws {
        let objects = try self.objects(settings)
        #expect(try objects.get("devices/a") == nil)
        #expect(try objects.create("devices/a", [1, 2, 3]))
        #expect(try objects.create("devices/a", [4]) == false)
        #expect(try objects.get("devices/a") == [1, 2, 3])
        #expect(try objects.create("empty", []))
        #expect(try objects.get("empty") == [])
    }

    @Test func oneOfManyWritersCreatesAName() throws {
        let objects = try self.objects(settings)
        for round in 1...(isLongRun ? 20 : 4) {
            let winners = Mutex<[UInt8]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { writer in
                let byte = UInt8(writer)
                if (try? objects.create("race/\(round)", [byte])) == true { winners.withLock { $0.append(byte) } }
            }
            let found = winners.withLock { $0 }
            #expect(found.count == 1)
            #expect(try objects.get("race/\(round)") == found)
        }
    }

    @Test func listsTheNamesThatBeginWithAText() throws {
        let objects = try self.objects(settings)
        let names = ["devices/B", "devices/a", "devices/b.c-d_e", "devices/b/c", "devices/d"]
        for name in names + ["device", "keys/a"] { #expect(try objects.create(name, [0])) }
        #expect(try objects.names("devices/") == names)
        #expect(try objects.names("devices/", atOnce: 2) == names)
        #expect(try objects.names("devices/b") == ["devices/b.c-d_e", "devices/b/c"])
        #expect(try objects.names("").count == names.count + 2)
        #expect(try objects.names("nothing/") == [])
    }

    @Test(arguments: ["", "a b", "a//b", "/a", "a/", "../a", "a/./b", "ä", "a?b", String(repeating: "a", count: 513)])
    func refusesNamesThatNeedEscapes(_ name: String) throws {
        let objects = try self.objects(settings)
        #expect { try objects.get(name) } throws: { ($0 as? QueueError)?.code == .valueInvalid }
        #expect { try objects.create(name, []) } throws: { ($0 as? QueueError)?.code == .valueInvalid }
    }

    @Test func saysThatTheStoreCannotBeUsed() throws {
        let elsewhere = [
            // The kernel never assigns port 1, and no server on the test machines listens there.
            "url": "http://127.0.0.1:1/bucket", "profile": "test",
        ]
        let noBucket = settings.merging([
            "url": "\(try #require(settings["url"]))".replacing("/captures/", with: "/no/")
        ]) { $1 }
        for settings in [elsewhere, noBucket] {
            let objects = try self.objects(settings)
            let calls: [() throws -> Void] = [
                { _ = try objects.get("a") }, { _ = try objects.create("a", []) }, { _ = try objects.names("a") },
            ]
            for call in calls { #expect { try call() } throws: { ($0 as? QueueError)?.code == .inputOutput } }
        }
    }

    @Test(arguments: [
        ["url": "https://host"], ["url": "https://host/bucket/{sha256}"], ["region": "eu-1"],
        ["url": "https://host/bucket", "condition": "no"], ["url": "https://host/bucket", "colour": "red"],
        ["url": "https://host/bucket", "ca": "/nonexistent/ca.pem"],
    ])
    func refusesSettings(_ settings: [String: String]) {
        #expect { try objects(settings) } throws: { ($0 as? QueueError)?.code == .destinationSettings }
    }

    private func objects(_ texts: [String: String]) throws -> S3Objects {
        guard case .s3(let settings) = try DestinationSettings(.s3, texts) else { throw OtherKind() }
        return try S3Objects(settings)
    }

    private struct OtherKind: Error {}
}
