import CurlClient
import QueueModel

extension HTTPAnswer {
    /// Where the store says that the bucket is; nil if it does not say.
    var bucketPlace: (words: String, cause: Block.Cause)? {
        let text = String(decoding: body.prefix(4096), as: UTF8.self)
        let region = (self["x-amz-bucket-region"] ?? AnswerWords.element("Region", text)).flatMap(Self.word)
        let host = AnswerWords.element("Endpoint", text).flatMap(Self.word)
        let words = [
            region.map { "the bucket is in the region \($0)" }, host.map { "the bucket is at the host \($0)" },
        ].compactMap(\.self)
        return words.isEmpty ? nil : (words.joined(separator: ", and "), .bucket(region: region, host: host))
    }

    /// A name of a host or a region, which becomes part of a command in a hint.
    private static func word(_ text: String) -> String? {
        let isPlain = text.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "-.:".utf8.contains(byte)
        }
        return isPlain && 1...255 ~= text.utf8.count && !text.hasPrefix("-") ? text : nil
    }
}
