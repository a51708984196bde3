/// The outside of a TimeStampResp (RFC 3161 section 2.4.2): whether the request was granted, and the token.
package struct TimeStampResponse {
    /// 0 granted, 1 granted with modifications, 2 rejection, 3 waiting, 4 and 5 about revocations.
    package let status: UInt8
    /// The first text that the authority adds to the status.
    package let text: String?
    /// The DER of the token, which is not parsed yet.
    package let token: [UInt8]?

    /// Parses a response; nil unless the bytes are the DER of one, as far as it is parsed here.
    package init?(der: [UInt8]) {
        guard let parts = DER.sequence(der[...]), (1...2).contains(parts.count),
            let info = DER.sequence(parts[0].whole), let number = info.first, number.tag == DER.integer,
            number.contents.count == 1, let status = number.contents.first, status < 0x80
        else { return nil }
        var rest = info.dropFirst()
        var texts: [DER.Element]? = []
        if rest.first?.tag == DER.sequenceTag { texts = rest.popFirst().flatMap { DER.sequence($0.whole) } }
        if rest.first?.tag == DER.bitString { rest.removeFirst() }
        guard let texts, texts.allSatisfy({ $0.tag == DER.text }), rest.isEmpty else { return nil }
        self.status = status
        text = texts.first.map { String(decoding: $0.contents, as: UTF8.self) }
        token = parts.count == 2 ? Array(parts[1].whole) : nil
    }
}
