import { Unreadable } from "../verifier/fault.js";
import { Pace } from "../verifier/pace.js";
import { digestOf } from "../verifier/sha256.js";
import { piece } from "../verifier/source.js";

/** Whether anything of a bundle may be shown or saved: nothing of it is damaged. */
export const isSound = ({ verdict }) => ["verified", "unknown-device", "unacceptable"].includes(verdict);

/** The bytes of an entry. They are read again, so their hash is compared again before anything is done with them. */
export async function contentOf(file, entry, pace = new Pace()) {
    const bytes = await piece(file, entry.offset, entry.size);
    if (await digestOf(bytes, pace) !== entry.sha256) throw new Unreadable("was changed after it was verified");
    return bytes;
}

/** The entry of a path, if the bundle has it. */
export const presentEntry = ({ entries }, path) =>
    entries.find(entry => entry.path === path && entry.status === "matched");

/** Offers bytes as a download. The browser never shows them as a page. */
export function save(parts, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(parts, { type: "application/octet-stream" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
