import { parseTrust } from "../verifier/trust.js";
import { judge, readBundle } from "../verifier/verification.js";
import { card } from "./card.js";
import { Devices } from "./devices.js";
import { byId, visible } from "./dom.js";
import { actions, summary, table, worstFirst } from "./list.js";
import { Reading } from "./reading.js";
import { isSample, sampleFiles, sampleTrust } from "./sample.js";
import { kindOf, verdictLine } from "./words.js";

// The page: takes files, verifies them one after the other, and shows the results.

const devices = new Devices();
const reading = new Reading();
const items = [];
let selected = null;
/** The kind of bundles that the table shows; null for all. */
let shownKind = null;
/** Ends the work on the pictures that are shown. */
let pictures = new AbortController();
let turn = Promise.resolve();

/** Runs an act after those before it, so that what the page shows is always what was judged last. */
async function inTurn(act) {
    const before = turn;
    let end;
    turn = new Promise(resolve => { end = resolve; });
    await before;
    try {
        return await act();
    } finally {
        end();
    }
}

/** Verifies bundles in addition to those that are shown. */
async function take(files) {
    if (!files.every(isSample)) await dropSample();
    const taken = await reading.take(files, items);
    if (!taken) return;
    const { added, remarks } = taken;
    await inTurn(() => judgeAll(added));
    byId("status").textContent = [...remarks, outcome(), readWords(added)].filter(Boolean).join(" ");
}

/** How many of the files that were added could be read. "more" if the list had bundles before. */
function readWords(added) {
    const count = added.filter(item => item.reading).length;
    const more = count > 0 && items.length > added.length ? " more" : "";
    const failed = added.length - count;
    return `${count}${more} ${count === 1 ? "bundle was" : "bundles were"} read`
        + (failed > 0 ? `, ${failed} could not be read.` : ".");
}

async function trySample() {
    await devices.add(sampleTrust(), "sample");
    await take(await sampleFiles());
}

const keep = isKept => items.splice(0, items.length, ...items.filter(isKept));

/** The sample and its device leave when the user gives files of their own. */
async function dropSample() {
    if (!items.some(({ file }) => isSample(file))) return;
    keep(({ file }) => !isSample(file));
    await devices.remove(sampleTrust());
}

/**
 * Judges all bundles that were read, with the devices that are trusted now and by the rule for withheld entries. The worst
 * of those that were added is shown.
 */
async function judgeAll(added = []) {
    const trusted = devices.all;
    const policy = { allowsWithheld: byId("withheld").checked, required: [] };
    for (const item of items) item.report = item.reading && trusted && await judge(item.reading, trusted, policy);
    if (added.length > 0) [[selected], shownKind] = [worstFirst(added), null];
    devices.show(judgeAgain);
    if (trusted) show();
    else byId("results").replaceChildren();
}

function show() {
    pictures.abort();
    pictures = new AbortController();
    byId("try").hidden = items.length > 0;
    const ordered = worstFirst(items);
    if (!items.some(item => kindOf(item) === shownKind)) shownKind = null;
    const rows = ordered.filter(item => !shownKind || kindOf(item) === shownKind);
    if (!rows.includes(selected)) [selected] = rows;
    byId("results").replaceChildren(
        ...(items.length > 1
            ? [summary(items, shownKind, filter), table(rows, selected, select), actions(items, () => remove(items))] : []),
        ...(selected ? [card(selected, () => remove([selected]), pictures.signal)] : []));
}

function select(item) {
    selected = item;
    show();
    byId("shown").focus();
}

function filter(kind) {
    shownKind = kind;
    show();
    document.querySelector(".tiles [aria-pressed=true]").focus();
}

function remove(those) {
    keep(item => !those.includes(item));
    show();
    byId("status").textContent = outcome();
    (byId("shown") ?? byId("bundle-files")).focus();
}

/** Judges again after the user chose something, says what came out, and after that what was left out. */
const judgeAgain = (choose = async () => []) => inTurn(async () => {
    const remarks = await choose();
    await judgeAll();
    byId("status").textContent = [outcome(), ...remarks].join(" ");
});

function outcome() {
    if (items.length === 0 || !devices.all) return "";
    if (items.length === 1) return `${visible(items[0].report ? verdictLine(items[0].report) : "not readable")}.`;
    return `${items.filter(({ report }) => report?.verdict === "verified").length} of ${items.length} bundles are verified.`;
}

const trustAll = files => judgeAgain(async () => {
    const remarks = [];
    for (const file of files) {
        const same = await devices.add(new Uint8Array(await file.arrayBuffer()), file.name);
        if (same !== null) {
            remarks.push(`${visible(file.name)} was not added: its content is already in the list as ${visible(same)}.`);
        }
    }
    return remarks;
});

function takeFilesOf(zone, act) {
    const input = zone.querySelector("input");
    input.addEventListener("change", () => act([...input.files]).finally(() => { input.value = ""; }));
}

takeFilesOf(byId("bundles"), take);
takeFilesOf(byId("trust"), trustAll);
byId("try").addEventListener("click", trySample);
byId("use").addEventListener("click", () => trustAll([new File([byId("key").value], "pasted")]));
byId("withheld").addEventListener("change", () => judgeAgain());

// Files that are dropped on the box for devices are trusted. Files that are dropped anywhere else are bundles, whatever
// they hold, so a trust file that came with the bundles is never used by mistake.
addEventListener("dragover", event => event.preventDefault());
addEventListener("drop", event => {
    event.preventDefault();
    const files = [...event.dataTransfer.files];
    if (byId("trust").contains(event.target)) trustAll(files);
    else take(files);
});

addEventListener("unhandledrejection", ({ reason }) => {
    byId("status").textContent = `The page failed, and gives no verdict: ${reason}. Use capbundle verify.`;
    byId("results").replaceChildren();
});

/** The verifier as a function, for tests. */
globalThis.verifyBundle = async (blob, trustFile, policy) =>
    judge(await readBundle(blob), await parseTrust(trustFile), policy);
