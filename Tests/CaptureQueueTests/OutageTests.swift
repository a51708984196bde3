import CaptureBundle
import CaptureTestSupport
import Foundation
import QueueFiles
import QueueModel
import QueueTransports
import Testing

@testable import CaptureQueue

/// What a status does to captures over hours: real requests to a real server, by a clock that the test sets
/// (Spec/upload.md section 4).
struct OutageTests {
    private static let minute = 60_000
    private static let hour = 60 * minute
    private static let kinds: [Destination.Kind] = [.http, .put, .s3]
    /// The statuses that speak of the capture, or perhaps do.
    private static let ofCapture = [400, 409, 412, 413, 415, 422, 423, 500] + Array(200...299)
    /// A row for each queue, because each step of a run looks through all destinations of its queue.
    private static let statuses =
        isLongRun ? stride(from: 100, to: 600, by: 20).map { Array($0..<$0 + 20) } : [[201, 429, 511]]
    private static let kindsAndCounts: [(kind: Destination.Kind, count: Int)] =
        isLongRun
        ? kinds.flatMap { kind in [1, 2, 5].map { (kind, $0) } } : Array(zip(kinds, [1, 2, 5]))

    private let room: BundleRoom
    private let manual = ManualClock()
    private let queue: UploadQueue
    private let server: AnswerServer

    init() throws {
        room = try BundleRoom()
        server = try AnswerServer.shared.get()
        try Self.authority.write(toFile: room.path("authority.pem"), atomically: false, encoding: .utf8)
        queue = try UploadQueue(at: QueueFolder(path: room.path("queue")), createIfMissing: true, clock: manual.clock)
    }

    /// If a server closes connections, a run looks whether it speaks TLS. To read the system's authorities each time would make
    /// these tests four times slower.
    private static let authority = """
        -----BEGIN CERTIFICATE-----
        MIIBejCCAR+gAwIBAgIUWss9PhPtLLuKhJ9IIaqqCyYeL24wCgYIKoZIzj0EAwIw
        ETEPMA0GA1UEAwwGbm9ib2R5MCAXDTI2MTEzMDAzMzI1N1oYDzIxMjYxMTA2MDMz
        MjU3WjARMQ8wDQYDVQQDDAZub2JvZHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
        AASA7OjwPXYn9WhcqFb+wK6sTtMsFg8mTVRCCAbM46iv2tlG7geGixerQvYn3Aba
        zdnw/gViBhZKwr+eywzyClmZo1MwUTAdBgNVHQ4EFgQUSuH6hB/f5F66r/b0IuGY
        4I7oGp0wHwYDVR0jBBgwFoAUSuH6hB/f5F66r/b0IuGY4I7oGp0wDwYDVR0TAQH/
        BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEA9z+ovaiNl2SfBymHDB3V74tSp0Nl
        /pgaSfYuNSDv6i4CIQCuxwSsB/VESXBCkTYn6rP7AfV/jW/3bHeZMcx8BVakkA==
        -----END CERTIFICATE-----
        """

    private func add(_ kind: Destination.Kind, _ name: String, at place: String) throws {
        let url = "\(server.url)/\(place)"
        let settings = ["url": kind == .put ? url + "/{sha256}" : url, "ca": room.path("authority.pem")]
        try queue.destinations.add(name, DestinationSettings(stored: kind.rawValue, settings))
    }

    private func push(_ count: Int, to names: [String]) throws -> [String] {
        try (0..<count).map { number in
            try queue.push(room.bundle("capture-\(number)"), .with { $0.destinations = names }).id
        }
    }

    private func run(_ name: String) throws -> SimulatedRun {
        let transport = try TransportShares(.none).make(queue.destinations.find(name)) { _ in }
        return try SimulatedRun(queue, name, manual, transport)
    }

    private func deliveries(_ ids: [String], at name: String) throws -> [DeliveryRecord] {
        try ids.map { id in
            try #require(queue.captures.find(id).deliveries.first { $0.destination == name })
        }
    }

    @Test(arguments: kindsAndCounts, statuses)
    func givesNothingUpInTheFirstHourForAStatusThatIsNotAboutTheCapture(
        _ way: (kind: Destination.Kind, count: Int), _ statuses: [Int]
    ) throws {
        let (kind, count) = way
        for form in ["empty", "page"] {
            for status in statuses { try add(kind, "\(form)-\(status)", at: "\(status)/\(form)") }
        }
        let names = statuses.flatMap { ["empty-\($0)", "page-\($0)"] }
        let ids = try push(count, to: names)
        for status in statuses {
            // No answer of these has a body. A page with 200 is a login page.
            let hasNoBody = [204, 205, 304].contains(status)
            for form in hasNoBody ? ["empty"] : ["empty", "page"] {
                let name = "\(form)-\(status)"
                try run(name).pass(Self.hour)
                let found = try deliveries(ids, at: name)
                #expect(!found.contains { $0.state == .completed }, "\(kind) \(name)")
                let isCounted =
                    Self.ofCapture.contains(status)
                    && (form == "empty" || [409, 412, 413, 415, 422, 423].contains(status))
                if isCounted { continue }
                let isWaiting = found.allSatisfy { $0.state == .pending && $0.attempts == 0 }
                #expect(
                    isWaiting, "\(kind) \(name): \(found.map { "\($0.state) \($0.attempts) \($0.errorCode ?? "")" })")
                #expect(try queue.destinations.find(name).block != nil, "\(kind) \(name)")
            }
        }
    }

    /// The only request with a body is the first one, where HEAD is answered by the outage, too.
    @Test(arguments: kinds) func sendsOneBodyADayIntoAnOutageThatAnswersEverything(_ kind: Destination.Kind) throws {
        let (name, place) = ("away", "502/empty-\(kind)")
        try add(kind, name, at: place)
        let ids = try push(2, to: [name])
        try run(name).pass(24 * Self.hour)
        #expect(try server.bodies(place).count == 1)
        #expect(try deliveries(ids, at: name).allSatisfy { $0.state == .pending && $0.attempts == 0 })
        #expect(try queue.status().concerns(of: name).map(\.code) == [.blocked])
    }

    @Test(arguments: kinds) func sendsFewBodiesIntoAnOutageThatLetsQuestionsPass(_ kind: Destination.Kind) throws {
        let (name, place) = ("later", "503/later-\(kind)")
        try add(kind, name, at: place)
        let ids = try push(1, to: [name])
        let run = try run(name)
        try run.pass(Self.hour - 1)
        // `http` also asks about the photo, after the first body and before each later one.
        let eachTry = kind == .http ? 2 : 1
        #expect(try server.bodies(place).count <= 5 * eachTry + 1)
        #expect(try queue.status().concerns(of: name).isEmpty)
        try run.pass(23 * Self.hour)
        let sizes = try server.bodies(place)
        // Five in the first hour, and one in each later one.
        let largest = try #require(sizes.max())
        #expect(sizes.count { $0 == largest } <= 28 && sizes.reduce(0, +) <= 28 * eachTry * largest)
        #expect(try deliveries(ids, at: name).allSatisfy { $0.state == .pending && $0.attempts == 0 && $0.isInDoubt })
        #expect(try queue.status().concerns(of: name).map(\.code) == [.blocked])
    }

    /// A proxy that refuses one capture with 502 does not keep the others, and the capture does not stay for ever.
    @Test func countsAnOutageOnceAnotherCaptureHasLandedInPlaceOfTheFirst() throws {
        try add(.put, "server", at: "200/empty")
        let ids = try push(6, to: ["server"])
        let run = try SimulatedRun(queue, "server", manual)
        run.destination.answer = { [manual] capture, _ in
            manual.pass(1)
            guard capture.id == ids[0] else { return ScriptedDestination.landed }
            var block = Block(.failing, "a proxy answered 502")
            (block.code, block.isInDoubt) = ("edge.502", true)
            return .blocked(block)
        }
        try run.pass(20_000)
        let states = try deliveries(ids, at: "server").map(\.state)
        #expect(states.dropFirst().allSatisfy { $0 == .completed })
        try run.pass(24 * Self.hour)
        let bad = try #require(deliveries([ids[0]], at: "server").first)
        #expect(bad.state == .permanentlyFailed && bad.errorCode == "edge.502")
        // The first try counted nothing.
        #expect(run.destination.sent.count { $0.id == ids[0] } == 11)
        #expect(run.events.filter { $0.name == .blocked }.count == 1)
    }
}
