import CurlClient
import QueueModel

/// Words for a transfer that failed. libcurl gives OpenSSL's own words for what is wrong with TLS, and only those tell the
/// causes apart: this is the place that reads them.
extension HTTPExchange {
    static let onlyTLS = ": the port speaks TLS, so its URL begins with https://"

    static func words(
        _ failure: TransferFailure, _ kind: AnswerClass, at address: WebAddress
    ) -> (words: String, cause: Block.Cause?) {
        let message = failure.message
        if [1, 8].contains(failure.code), kind == .outage { return ("what answers there does not speak HTTP", nil) }
        if kind == .outage { return ("the port is open, but closed the connection before TLS began", nil) }
        if message.contains("certificate subject name") {
            return ("the server's certificate is for another name than \(address.origin.host)", .otherName)
        }
        if refusesCertificate(message) {
            let alert = message.pieces(around: "::").last?.pieces(by: ",").first ?? ""
            return ("the server does not accept the client certificate (\(alert))", .ofClient)
        }
        if failure.code == 58 { return ("the client certificate cannot be used: \(message)", .ofClient) }
        if let (_, words, cause) = causes.first(where: { message.contains($0.openSSL) }) { return (words, cause) }
        let isWord = message.utf8.dropFirst().first.map { (97...122).contains($0) } ?? false
        return (isWord ? message.cut(to: 1).lowercased() + message.without(first: 1) : message, nil)
    }

    /// Whether OpenSSL names an alert with which a server refuses a client certificate, or wants one.
    static func refusesCertificate(_ message: String) -> Bool {
        message.contains(" alert ")
            && ["certificate", "unknown ca", "decrypt error", "access denied"].contains(where: message.contains)
    }

    private static let causes: [(openSSL: String, words: String, cause: Block.Cause)] = [
        ("wrong version number", "does not speak TLS, so its URL begins with http://", .noTLS),
        ("certificate has expired", "the server's certificate has expired", .expired),
        (
            "certificate is not yet valid",
            "the server's certificate is not yet valid, or the clock of this computer is in the past", .notYetValid
        ),
        ("self-signed certificate in", foreign, .foreign), ("self signed certificate in", foreign, .foreign),
        ("self-signed certificate", selfSigned, .selfSigned), ("self signed certificate", selfSigned, .selfSigned),
        ("unable to get local issuer", foreign, .foreign), ("unable to get issuer", foreign, .foreign),
    ]
    private static let foreign = "the server's certificate is signed by an authority that is not trusted here"
    private static let selfSigned = "the server's certificate is self-signed"
}
