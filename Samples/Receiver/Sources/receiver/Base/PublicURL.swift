import Synchronization

/// The URL under which others reach the receiver. Without a choice of the operator, it is known once the server listens.
final class PublicURL: Sendable {
    private let text: Mutex<String>

    init(_ chosen: String?) {
        var text = chosen ?? ""
        while text.utf8.last == UInt8(ascii: "/") { text.removeLast() }
        self.text = Mutex(text)
    }

    /// Takes the address on which the server listens, unless the operator chose a URL.
    func listens(_ url: String) { text.withLock { if $0.isEmpty { $0 = url } } }

    func page(of id: String) -> String { text.withLock { "\($0)/verify/\(id)" } }
}
