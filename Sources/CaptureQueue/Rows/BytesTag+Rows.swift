import Foundation
import GRDB
import QueueModel

/// Stores what is known about the bytes besides their SHA-256, so that sending need not hash them again.
extension Database {
    /// Replaces the tag and the body hash, because the bytes have changed.
    func setBytes(tag: BytesTag?, body: BodyHash?, ofCapture sequence: Int) throws {
        try run(
            "UPDATE captures SET tag = ?, body_sha256 = ?, body_form = ? WHERE seq = ?",
            [tag.map { Data($0.bytes) }, body?.sha256.data, body?.form, sequence])
    }

    /// Forgets a tag that does not fit although the SHA-256 is right. From now on the SHA-256 is compared.
    func dropTag(ofCapture sequence: Int) throws {
        try run("UPDATE captures SET tag = NULL WHERE seq = ?", [sequence])
    }
}

extension BytesTag {
    init?(row: Row) throws {
        let value = row["tag"] as DatabaseValue
        if value.isNull { return nil }
        guard case .blob(let data) = value.storage, let tag = BytesTag(bytes: Array(data)) else {
            throw QueueError.corruptRecord("the value in the column tag is invalid")
        }
        self = tag
    }
}

extension BodyHash {
    /// Returns nil if there is no hash yet, or if the body was made in another form.
    init?(row: Row) throws {
        guard let form = try row.text("body_form") else { return nil }
        self.init(sha256: try row.digest("body_sha256"), form: form)
    }
}
