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
            "captured_at": .string(packed.manifest.capturedAt.description),
            "chain": packed.manifest.chain.map {
                .members(["prev": $0.prev.map { .string($0.description) }, "seq": .integer($0.seq)])
            },
            "counter": packed.counter.map { .integer(Int($0)) },
            "dry_run": isDryRun ? .bool(true) : nil,
            "entries": .array(packed.manifest.entries.map { .string($0.path.description) }),
            "exit_code": .integer(0),
            "frame": packed.frame.map { .string($0) },
            "id": .string(packed.id),
            "key_id": .string(packed.manifest.device.keyID.description),
            "layout": .string(packed.layout),
            "manifest_sha256": .string(packed.manifestSHA256.description),
            "output": output.map { .string($0) },
            "packed_before": packed.wasPackedBefore ? .bool(true) : nil,
            "raw": .string(raw),
            "remarks": .array(packed.remarks.map(json)),
        ])
    }

    /// The result for a capture that could not be packed.
    static func json(_ raw: String, frame: String? = nil, _ error: BundleError) -> JSONValue {
        .members([
            "error": error.json, "exit_code": .integer(Int(ExitStatus(error).rawValue)),
            "frame": frame.map { .string($0) }, "raw": .string(raw),
        ])
    }

    private static func json(_ remark: Remark) -> JSONValue {
        .members([
            "code": .string(remark.code), "file": .string(remark.file), "message": .string(remark.words),
            "weight": .string(remark.weight.rawValue),
        ])
    }
}
