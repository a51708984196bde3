import CurlTransport

extension Destination {
    /// Headers that the user gave.
    var ownHeaders: [HTTPRequest.Header] { settings["header"].map(HeaderLines.parse)?.compactMap(\.self) ?? [] }
}

extension HTTPRequest {
    /// Adds headers of the user's; of Content-Type there is one.
    mutating func add(_ own: [Header]) {
        if own.contains(where: { $0.name.lowercased() == "content-type" }) {
            headers.removeAll { $0.name.lowercased() == "content-type" }
        }
        headers += own
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
