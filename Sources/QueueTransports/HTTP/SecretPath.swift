import CurlClient
import QueueModel

/// `secret-path`: whoever knows a URL of the destination may use it, so that its paths are shown nowhere (Spec/queue.md
/// section 12).
extension Destination {
    var hidesPaths: Bool { settings["secret-path"] == "yes" }

    /// Without its query, which may hold a signature.
    func shown(_ address: WebAddress) -> String { address.shown(hidesPath: hidesPaths) }

    /// The same of a setting, in which names in braces may stand.
    func shown(_ template: URLTemplate) -> String {
        guard hidesPaths else { return template.shown }
        return WebAddress(template.example).map { shown($0) } ?? "…"
    }
}
