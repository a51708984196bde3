package import CaptureBundle
package import QueueModel

extension Destination {
    /// The place to which the bundle of a capture goes; nil if that is known only when it is sent, as for a fetched URL.
    package func knownPlace(of capture: CaptureRecord) -> Digest? {
        guard case .put(let put) = settings, put.part == .bundle, case .url(let template) = put.source else {
            return nil
        }
        return template.address(of: capture)?.place
    }
}
