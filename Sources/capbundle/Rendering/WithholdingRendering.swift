import CaptureBundle
import CommandSupport

/// Prints the results of `redact` and `restore`.
enum WithholdingRendering {
    static func json(
        _ report: String, _ file: String, _ output: String, _ manifest: Manifest, _ sha256: Digest, _ bytes: Int,
        restored: [ManifestEntry]? = nil, withheld: [ManifestEntry]
    ) -> JSONValue {
        .members([
            "bytes": .integer(bytes), "exit_code": .integer(0), "file": .string(file), "id": .string(manifest.id),
            "manifest_sha256": .text(sha256), "output": .string(output), "report": .string(report),
            "restored": restored.map(json), "withheld": json(withheld),
        ])
    }

    private static func json(_ entries: [ManifestEntry]) -> JSONValue {
        .array(
            entries.map {
                .members([
                    "path": .text($0.path), "sha256": .text($0.sha256), "size": .integer($0.size),
                ])
            })
    }

    static func names(_ entries: [ManifestEntry]) -> String {
        entries.map(\.path.description).joined(separator: ", ")
    }
}
