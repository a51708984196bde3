import CaptureBundle
package import CurlClient
package import QueueModel
import SystemPackage

extension ConnectionSettings {
    package var options: ConnectionOptions {
        var options = ConnectionOptions()
        options.authorities = authorities?.string
        options.certificate = certificate?.string
        options.certificateKey = certificateKey?.string
        options.proxy = proxy
        options.times.connect = connectTimeout / .seconds(1)
        options.times.stall = stallTimeout / .seconds(1)
        options.times.answer = answerTimeout / .seconds(1)
        return options
    }

    /// The user's own headers.
    var own: HTTPHeaders { headers.map { ($0.name, $0.value) } }

    /// The URL for output, without its query, which may contain a signature.
    func shown(_ address: WebAddress) -> String { address.shown(hidesPath: hidesPaths) }

    /// The URL as the user gave it, without the query, and without a secret path.
    func shown(_ template: URLTemplate) -> String {
        guard hidesPaths else { return template.shown }
        return WebAddress(template.example).map(shown) ?? "…"
    }
}

extension URLTemplate {
    func address(of capture: CaptureRecord) -> WebAddress? {
        WebAddress(
            filled { name in
                switch name {
                case "sha256": capture.sha256.description
                case "id": Self.escaped(capture.id)
                default: Self.escaped(capture.session ?? "")
                }
            })
    }
}

extension String {
    /// A path or URL up to its last slash.
    var folder: String { pieces(by: "/", keepsEmpty: true).dropLast().joined(separator: "/") + "/" }
}

extension HTTPSettings {
    /// The URL to which captures are posted.
    package var endpoint: URLTemplate {
        guard let example = WebAddress(url.example), example.path == "/" || example.path.isEmpty, example.query == nil
        else { return url }
        return URLTemplate(url.text + (url.text.hasSuffix("/") ? "" : "/") + "api/v1/captures")
    }

    /// The URL that says which captures have arrived: the user's, or else the endpoint with `verify-file` as its last
    /// part; nil if the server is not asked.
    package var verify: WebAddress? {
        switch lookup {
        case .never: return nil
        case .url(let given): return WebAddress(given.text)
        case nil:
            guard let endpoint = WebAddress(endpoint.example), endpoint.path.contains("/") else { return nil }
            return WebAddress(endpoint.origin.description + endpoint.path.folder + "verify-file")
        }
    }

    /// The signing device for profile `capture`.
    package var device: Device? { if case .device(let device) = signer { device } else { nil } }

    package var realityCam: RealityCam? { if case .realityCam(let profile) = signer { profile } else { nil } }
}
