// Runs in the page. Gives bundles to its verifier, and returns the reports with the members of `capbundle verify --json`.
const [bundles, done] = arguments;

function reportOf(report) {
    const { manifest, authenticator, device, metadata } = report;
    const findings = list => list.map(({ code, message, entry }) => ({ code, message, ...(entry ? { entry } : {}) }));
    const optional = (name, value) => value === null || value === undefined ? {} : { [name]: value };
    return {
        verdict: report.verdict, exit_code: report.exitCode, checks: report.checks, not_checked: report.notChecked,
        faults: findings(report.faults), warnings: findings(report.warnings),
        ...(manifest && {
            bundle: {
                id: manifest.id, captured_at: manifest.capturedAt, manifest_sha256: report.manifestSHA256,
                ...(manifest.depth && { depth: { width: manifest.depth.width, height: manifest.depth.height } }),
                ...(metadata && { captured_at_as_written: metadata.capturedAt, device_model: metadata.deviceModel }),
            },
            device: {
                key_id: manifest.keyId, ...optional("counter", authenticator?.counter),
                ...optional("kind", authenticator?.kind), ...optional("name", device?.name),
                ...optional("level", device?.level),
            },
            entries: report.entries.map(({ path, role, mediaType, size, sha256, status }) =>
                ({ path, role, media_type: mediaType, size, sha256, status })),
        }),
    };
}

function decoded(base64) {
    return Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
}

async function verified({ bytes, trust, words }) {
    const required = words.includes("--require") ? words[words.indexOf("--require") + 1].split(",") : [];
    const policy = { allowsWithheld: words.includes("--allow-withheld"), required };
    try {
        return reportOf(await verifyBundle(new Blob([decoded(bytes)]), decoded(trust), policy));
    } catch (error) {
        // A damaged trust file gives no verdict: T0.
        return error.code === "trust.file" ? { exit_code: 78, faults: [{ code: error.code }] } : { broke: String(error) };
    }
}

(async () => {
    const reports = [];
    for (const bundle of bundles) reports.push(await verified(bundle));
    done(reports);
})();
