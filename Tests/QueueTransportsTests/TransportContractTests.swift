import CaptureBundle
import CaptureNative
import QueueModel
import QueueTransports
import SystemPackage
import Testing

/// Each kind of destination keeps the promises of `UploadTransport` on a real server.
@Suite(.serialized)
struct TransportContractTests {
    @Test(arguments: Destination.Kind.allCases)
    func arrivesOnceHoweverOftenItIsSent(_ kind: Destination.Kind) throws {
        let place = try ContractPlace(kind, "once")
        let transport = try place.transport()
        for attempt in 1...3 {
            let outcome = transport.send(place.job(attempt: attempt), SendControl())
            guard case .completed(let receipt, _, _) = outcome else {
                Issue.record("try \(attempt): \(outcome)")
                return
            }
            #expect(receipt.contains(place.capture.sha256.description), "\(receipt)")
        }
        #expect(try place.copies() == 1)
    }

    @Test(arguments: Destination.Kind.allCases)
    func sendsNoOtherBytesUnderItsName(_ kind: Destination.Kind) throws {
        let place = try ContractPlace(kind, "spoilt")
        let outcome = try place.transport().send(place.job(of: try place.spoilt()), SendControl())
        guard case .damaged = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(try place.copies() == 0)
    }

    @Test(arguments: Destination.Kind.allCases)
    func callsBytesThatAreGoneDamaged(_ kind: Destination.Kind) throws {
        let place = try ContractPlace(kind, "gone")
        let outcome = try place.transport().send(place.job(of: "/nonexistent/bundle"), SendControl())
        guard case .damaged = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    @Test(arguments: Destination.Kind.allCases)
    func knowsWhatTheDestinationLost(_ kind: Destination.Kind) throws {
        let place = try ContractPlace(kind, "lost")
        let transport = try place.transport()
        guard case .completed(_, let remoteID, _) = transport.send(place.job(), SendControl()) else {
            Issue.record("not sent")
            return
        }
        #expect(transport.confirm(place.job(remoteID: remoteID), SendControl()) == .there)
        #expect(try place.copies() == 1)
        try place.forget()
        guard case .lost = transport.confirm(place.job(remoteID: remoteID), SendControl()) else {
            Issue.record("not noticed")
            return
        }
    }

    @Test(arguments: Destination.Kind.allCases)
    func blamesNoCaptureWhereNobodyIsThere(_ kind: Destination.Kind) throws {
        let place = try ContractPlace(kind, "offline", isThere: false)
        let transport = try place.transport()
        #expect(transport.reach(SendControl())?.reason == .offline)
        guard case .blocked(let block) = transport.send(place.job(), SendControl()) else {
            Issue.record("sent")
            return
        }
        #expect(block.reason == .offline)
    }

    @Test(arguments: Destination.Kind.allCases)
    func beginsNothingOnceItIsStopped(_ kind: Destination.Kind) throws {
        let place = try ContractPlace(kind, "stopped")
        let control = SendControl()
        control.stop("enough")
        let outcome = try place.transport().send(place.job(), control)
        #expect(outcome == .parked(cause: "enough", isInDoubt: false))
        #expect(try place.copies() == 0)
    }

    @Test(arguments: Destination.Kind.allCases)
    func givesBackWhatItTookOrSaysWhyNot(_ kind: Destination.Kind) throws {
        let place = try ContractPlace(kind, "back")
        let transport = try place.transport()
        guard case .completed = transport.send(place.job(), SendControl()) else {
            Issue.record("not sent")
            return
        }
        let target = try SpoolFile.open()
        let trouble = transport.fetch(place.job(), into: target, SendControl())
        guard trouble == nil else {
            #expect(kind == .http, "\(trouble ?? "")")
            return
        }
        try target.seekToStart()
        #expect(try FileDigest.sha256(target) == place.capture.sha256)
    }

    @Test(arguments: Destination.Kind.allCases)
    func leavesNothingBehindWhenItIsTested(_ kind: Destination.Kind) throws {
        let place = try ContractPlace(kind, "tested")
        let found = try place.transport().test(SendControl())
        #expect(found.block == nil, "\(found.block?.message ?? "")")
        #expect(!found.findings.isEmpty)
        #expect(try place.copies() == 0)
    }
}
