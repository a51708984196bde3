import CurlClient
import QueueModel

extension HTTPExchange {
    /// Makes the first check of each destination test: whether the server can be reached.
    func test(_ address: WebAddress?, _ control: SendControl) -> DestinationTest {
        guard let address else {
            return DestinationTest(block: Block(.endpoint, "the URL cannot be used"))
        }
        var found = DestinationTest(block: reach(address, control))
        if found.block == nil { found.findings.append("\(address.origin) can be reached") }
        return found
    }
}

extension DestinationTest {
    /// Reads the token, if the settings name one.
    mutating func check(_ tokens: TokenSource?, _ control: SendControl) {
        guard let tokens else { return }
        do {
            _ = try tokens.current(control)
            findings.append("a token is set")
        } catch {
            block = Block(.local, SendOutcome.words(error))
        }
    }

    /// - Parameter fine: statuses that only say that nothing is stored under the URL yet, such as 404.
    mutating func judge(_ end: HTTPEnd, allowing fine: Set<Int>) {
        let status = end.answer?.status ?? 0
        let isFine = (200...299).contains(status) || fine.contains(status) && end.kind != .credentials
        switch end.kind {
        case _ where isFine: findings.append(end.message)
        case .again: block = end.block(.credentials)
        case .final, .present, .followed: block = end.block(.endpoint)
        // Nobody answered.
        case .outage where end.answer == nil: block = end.block(.offline)
        case .retry, .unclear, .stopped, .landed: block = end.block(.offline)
        case .wait, .full, .outage, .credentials, .endpoint, .tls, .offline, .local:
            block = end.block(end.kind.reason ?? .offline)
        }
    }
}
