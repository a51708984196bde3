import CaptureBundle
import CaptureDevice
import CommandSupport

/// Prints the result of packing a capture as JSON (Spec/command-line.md section 3).
enum PackRendering {
    static func json(
        _ raw: String, _ packed: Packer.Packed, output: String?, isDryRun: Bool = false, body: JSONValue? = nil
    ) -> JSONValue {
        .members([
            "body": body,
            "bytes": .integer(packed.byteCount),
            "captured_at": .text(packed.manifest.capturedAt),
            "chain": packed.manifest.chain.map {
                .members(["prev": .text($0.prev), "seq": .integer($0.seq)])
            },
            "counter": .count(packed.counter),
            "dry_run": isDryRun ? .bool(true) : nil,
            "entries": .texts(packed.manifest.entries.map(\.path.description)),
            "exit_code": .integer(0),
            "frame": .text(packed.frame),
            "id": .string(packed.id),
            "key_id": .text(packed.manifest.device.keyID),
            "layout": .string(packed.layout),
            "manifest_sha256": .text(packed.manifestSHA256),
            "output": .text(output),
            "packed_before": packed.wasPackedBefore ? .bool(true) : nil,
            "raw": .string(raw),
            "remarks": .array(packed.remarks.map(json)),
        ])
    }

    /// The result for a capture that could not be packed.
    static func json(_ raw: String, frame: String? = nil, _ error: BundleError) -> JSONValue {
        .members([
            "error": error.json, "exit_code": .integer(Int(ExitStatus(error).rawValue)),
            "frame": .text(frame), "raw": .string(raw),
        ])
    }

    private static func json(_ remark: Remark) -> JSONValue {
        .members([
            "code": .string(remark.code), "file": .string(remark.file), "message": .string(remark.message),
            "weight": .string(remark.weight.rawValue),
        ])
    }
}

/// Prints the results of `redact` and `restore`.
enum WithholdingRendering {
    static func json(
        _ report: String, of file: String, _ copy: PartialCopy, in output: String,
        restored: [ManifestEntry]? = nil, withheld: [ManifestEntry]
    ) -> JSONValue {
        .members([
            "bytes": .integer(copy.byteCount), "exit_code": .integer(0), "file": .string(file),
            "id": .string(copy.manifest.id), "manifest_sha256": .text(copy.manifestSHA256),
            "output": .string(output), "report": .string(report),
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
