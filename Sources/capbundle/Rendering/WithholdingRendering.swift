import CaptureBundle
import CommandSupport

/// Prints the results of `redact` and `restore`.
enum WithholdingRendering {
    struct Report {
        let json: JSONValue

        static func redacted(_ result: Redactor.Redacted, of file: String, _ output: String) -> Report {
            let absent = (result.withheld + result.withheldBefore).sorted { $0.path < $1.path }
            return Report(
                "redact", file, output, result.manifest, result.manifestSHA256, result.byteCount,
                withheld: absent)
        }

        static func restored(_ result: Restorer.Restored, of file: String, _ output: String) -> Report {
            Report(
                "restore", file, output, result.manifest, result.manifestSHA256, result.byteCount,
                restored: result.restored, withheld: result.withheld)
        }

        static func failure(_ error: BundleError, of file: String, _ command: String) -> Report {
            Report(json: ReportRendering.json(file, error, ExitStatus(error), report: "capture-bundle/\(command)/1"))
        }

        private init(json: JSONValue) { self.json = json }

        private init(
            _ command: String, _ file: String, _ output: String, _ manifest: Manifest, _ sha256: Digest, _ bytes: Int,
            restored: [ManifestEntry]? = nil, withheld: [ManifestEntry]
        ) {
            json = .members([
                "bytes": .integer(bytes), "exit_code": .integer(0), "file": .string(file), "id": .string(manifest.id),
                "manifest_sha256": .string(sha256.description), "output": .string(output),
                "report": .string("capture-bundle/\(command)/1"), "restored": restored.map(Self.entries),
                "withheld": Self.entries(withheld),
            ])
        }

        private static func entries(_ entries: [ManifestEntry]) -> JSONValue {
            .array(
                entries.map {
                    .members([
                        "path": .string($0.path.description), "sha256": .string($0.sha256.description),
                        "size": .integer($0.size),
                    ])
                })
        }
    }

    /// Prints the report. If the bundle goes to standard output, the report goes to standard error.
    static func tell(_ report: Report, _ output: String) throws(BundleError) {
        if output == "-" { Output.tell(Output.jsonText(report.json)) } else { try Output.json(report.json) }
    }

    static func names(_ entries: [ManifestEntry]) -> String {
        entries.map(\.path.description).joined(separator: ", ")
    }
}
