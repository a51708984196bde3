import CurlClient
import QueueModel

extension HTTPExchange {
    /// What every test of a destination begins with: whether somebody is there. Without a hold there is more to ask.
    func test(_ address: WebAddress?, _ control: SendControl) -> DestinationTest {
        guard let address else {
            return DestinationTest(
                hold: DestinationHold(code: AnswerClass.endpoint.rawValue, message: "the URL cannot be used"))
        }
        var found = DestinationTest(hold: reach(address, control))
        if found.hold == nil { found.findings.append("\(address.origin) can be reached") }
        return found
    }
}

extension DestinationTest {
    /// - Parameter fine: statuses that only say that there is no such thing yet.
    mutating func judge(_ end: HTTPEnd, allowing fine: Set<Int>) {
        let status = end.answer?.status ?? 0
        let isFine = (200...299).contains(status) || fine.contains(status) && end.kind != .credentials
        switch end.kind {
        case _ where isFine: findings.append(end.message)
        case .again: hold = DestinationHold(code: AnswerClass.credentials.rawValue, message: end.message)
        case .final, .present, .followed:
            hold = DestinationHold(code: AnswerClass.endpoint.rawValue, message: end.message)
        default: hold = DestinationHold(code: end.kind.rawValue, message: end.message)
        }
    }
}
