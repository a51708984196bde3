import CaptureBundle
import CurlClient

extension HTTPEnd {
    /// Why an accepted upload gave no id: how its answer begins, if that is not the expected JSON.
    var withoutID: String {
        if let coding = answer?["content-encoding"], answer?.isUnreadable ?? false {
            return "in the coding \(coding), which was not asked for and cannot be read"
        }
        guard let answer, !answer.body.isEmpty else { return "without a capture_id: the answer is empty" }
        if answer.isCut { return "without a capture_id: the answer is incomplete, or over 1 MiB" }
        guard (try? JSONParser.parse(answer.body, nesting: 32)) == nil else { return "without a capture_id" }
        if answer.body.starts(with: [0xef, 0xbb, 0xbf]) {
            return "without a capture_id that can be read: a byte order mark is before the JSON"
        }
        let start = AnswerWords.shown(
            String(decoding: answer.body.prefix(60), as: UTF8.self), hiding: secrets, limit: 60)
        return "without a capture_id that can be read: the answer is not JSON, it begins with \(start)"
    }
}
