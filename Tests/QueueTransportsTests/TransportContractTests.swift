import CaptureBundle
import CaptureNative
import QueueModel
import QueueTransports
import SystemPackage
import Testing

/// Each kind of destination keeps the promises of `UploadTransport` on a real server.
@Suite(.serialized)
struct TransportContractTests {
    /// Sends the capture, which must land.
    ///
    /// - Returns: the receipt, and the id that the server gave.
    private func land(
        _ place: ContractPlace, _ transport: any UploadTransport, attempt: Int = 1
    ) throws -> (receipt: String, remoteID: String?) {
        let outcome = transport.send(place.job(attempt: attempt), SendControl())
        guard case .completed(let receipt, let remoteID, _) = outcome else {
            throw NotLanded(outcome: outcome)
        }
        return (receipt, remoteID)
    }

    private struct NotLanded: Error {
        let outcome: SendOutcome
    }

    @Test(arguments: Destination.Kind.allCases)
    func arrivesOnceHoweverOftenItIsSent(_ kind: Destination.Kind) throws {
        let place = try ContractPlace(kind, "once")
        let transport = try place.transport()
        for attempt in 1...3 {
            let receipt = try land(place, transport, attempt: attempt).receipt
            #expect(receipt.contains(place.capture.sha256.description), "\(receipt)")
        }
        #expect(try place.copies() == 1)
    }

    @Test(arguments: Destination.Kind.allCases)
    func sendsNoOtherBytesUnderItsNameAndNoneThatAreGone(_ kind: Destination.Kind) throws {
        let place = try ContractPlace(kind, "spoilt")
        for file in [try place.spoilt(), "/nonexistent/bundle"] {
            let outcome = try place.transport().send(place.job(of: file), SendControl())
            guard case .damaged = outcome else {
                Issue.record("\(file): \(outcome)")
                continue
            }
        }
        #expect(try place.copies() == 0)
    }

    @Test(arguments: Destination.Kind.allCases)
    func knowsWhatTheDestinationLost(_ kind: Destination.Kind) throws {
        let place = try ContractPlace(kind, "lost")
        let transport = try place.transport()
        let job = place.job(remoteID: try land(place, transport).remoteID)
        #expect(transport.confirm(job, SendControl()) == .there)
        #expect(try place.copies() == 1)
        try place.forget()
        guard case .lost = transport.confirm(job, SendControl()) else {
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
        _ = try land(place, transport)
        let target = try SpoolFile.open()
        let trouble = transport.fetch(place.job(), into: target, SendControl())
        #expect((trouble == nil) == (kind != .http), "\(trouble ?? "")")
        guard trouble == nil else { return }
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
