import CaptureBundle
import CommandSupport

/// Prints the facts about an upload body.
enum BodyRendering {
    static func json(_ output: String, _ body: MultipartBody, headers: String?) -> JSONValue {
        .members([
            "bytes": .integer(body.byteCount), "content_type": .string(body.contentType),
            "headers": .text(headers), "id": .string(body.manifest.id), "output": .string(output),
        ])
    }

    static func remarks(_ output: String, _ body: MultipartBody) {
        for message in body.remarks { diagnostic.warning("\(output): \(message)") }
    }
}
