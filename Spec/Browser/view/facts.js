import { DEPTH, LOCATION, PHOTO } from "../verifier/path.js";
import { isSound } from "./content.js";
import { visible } from "./dom.js";
import { size } from "./words.js";

const CLAIMED = " (unproven claim)";

/** The facts that a bundle states about its capture, as far as they were read: pairs of name and value. */
export function factsOf(report) {
    const { manifest, metadata, authenticator, position, isGenuine } = report;
    if (!manifest) return [["read", size(report.bytes)]];
    const claimed = isGenuine ? "" : CLAIMED;
    const facts = [
        ["id", manifest.id], ["device", deviceWords(report)], ["key id", manifest.keyId],
        ["captured", capturedWords(manifest, isGenuine ? metadata : null) + claimed],
    ];
    if (metadata) facts.push(["model", metadata.deviceModel + claimed]);
    facts.push(["photo", partWords(report, PHOTO)]);
    const samples = manifest.depth ? `${manifest.depth.width}x${manifest.depth.height} samples, ` : "";
    facts.push(["depth", samples + partWords(report, DEPTH)], ["location", partWords(report, LOCATION)]);
    if (position && isSound(report)) {
        facts.push(["position", `latitude ${position.latitude}, longitude ${position.longitude}`]);
    }
    facts.push(["counter", authenticator ? String(authenticator.counter) : "not readable"]);
    if (manifest.chain) facts.push(["chain", `capture ${manifest.chain.seq} of this device`]);
    facts.push(["size", size(report.bytes)], ["manifest", `SHA-256 ${report.manifestSHA256}`]);
    return facts;
}

function deviceWords({ isGenuine, device, verdict, authenticator }) {
    if (!isGenuine) return "not known";
    const kind = authenticator.kind === "apple" ? "an Apple key" : "a key on disk";
    const name = device ? device.name : verdict === "unknown-device" ? "not in the trust file" : null;
    return name ? `${visible(name)}, ${kind}` : kind;
}

function capturedWords({ capturedAt }, metadata) {
    const written = metadata?.capturedAt;
    return written && written !== capturedAt ? `${capturedAt} (written as ${written})` : capturedAt;
}

function partWords({ entries }, path) {
    const entry = entries.find(one => one.path === path);
    if (!entry) return "none";
    const matched = path === LOCATION ? "in the bundle" : size(entry.size);
    return { withheld: "withheld", altered: "ALTERED", unread: "not read", matched }[entry.status];
}
