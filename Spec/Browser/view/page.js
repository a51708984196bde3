import { Unreadable } from "../verifier/fault.js";
import { parseTrust } from "../verifier/trust.js";
import { judge, readBundle } from "../verifier/verification.js";
import { card } from "./card.js";
import { Devices } from "./devices.js";
import { byId, visible } from "./dom.js";
import { summary, table } from "./list.js";
import { verdictLine } from "./words.js";

// The page: takes files, verifies them one after the other, and shows the results.

const devices = new Devices();
let items = [];
let selected = 0;
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
    const status = byId("status");
    const first = items.length;
    for (const [index, file] of files.entries()) {
        status.textContent = `Verifying ${index + 1} of ${files.length}…`;
        items.push(await readItem(file));
        if (index % 50 === 49) await new Promise(resume => setTimeout(resume));
    }
    selected = first < items.length ? first : selected;
    await inTurn(judgeAll);
    const { report } = items[selected] ?? {};
    status.textContent = files.length > 1 ? `${files.length} bundles were read.`
        : `${report ? `${visible(verdictLine(report))}. ` : ""}1 bundle was read.`;
}

async function readItem(file) {
    try {
        return { file, reading: await readBundle(file), report: null, error: null };
    } catch (error) {
        if (!(error instanceof Unreadable || error instanceof RangeError)) throw error;
        const isUnreadable = error instanceof Unreadable;
        const words = isUnreadable ? error.message : "needs more memory than the browser gives: use capbundle verify";
        return { file, reading: null, report: null, error: words };
    }
}

/** Judges all bundles that were read, with the devices that are trusted now and by the rule for withheld entries. */
async function judgeAll() {
    const trusted = devices.all;
    const policy = { allowsWithheld: byId("withheld").checked, required: [] };
    for (const item of items) item.report = item.reading && trusted && await judge(item.reading, trusted, policy);
    devices.show(judgeAgain);
    if (trusted) show();
    else byId("results").replaceChildren();
}

function show() {
    const results = byId("results");
    if (items.length === 0) return;
    const select = index => {
        selected = index;
        show();
        byId("shown").focus();
    };
    results.replaceChildren(
        ...(items.length > 1 ? [summary(items), table(items, selected, select)] : []), card(items[selected]));
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
