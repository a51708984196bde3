import { Fault } from "./fault.js";
import { kindWords } from "./json.js";

/** The members of an object of the manifest. A member of another kind is M4, and an unknown or missing one is M3. */
export class Members {
    #members;

    constructor(value, place) {
        if (value.kind !== "object") {
            throw new Fault("manifest.value", `${place} is ${kindWords(value)}, expected an object`);
        }
        this.#members = value.members;
        this.place = place;
    }

    /** M3. */
    allow(needed, optional) {
        for (const name of this.#members.keys()) {
            if (!needed.includes(name) && !optional.includes(name)) {
                throw new Fault("manifest.key", `${this.place}: unknown member ${name}`);
            }
        }
        for (const name of needed) {
            if (!this.#members.has(name)) throw new Fault("manifest.key", `${this.place}: ${name} is missing`);
        }
    }

    has(name) { return this.#members.has(name); }
    value(name) { return this.#members.get(name); }
    text(name) { return this.#of("string", name, "a string").text; }
    integer(name) { return Number(this.#of("number", name, "an integer").text); }
    array(name) { return this.#of("array", name, "an array").elements; }
    object(name) { return new Members(this.#members.get(name), `${this.place}: ${name}`); }
    digest(name) { return this.match(name, /^[0-9a-f]{64}$/, "is not 64 lower-case hex digits"); }

    word(name, words) {
        const text = this.text(name);
        if (!words.includes(text)) this.refuse(name, `is ${text}, expected ${words.join(" or ")}`);
        return text;
    }

    match(name, pattern, complaint) {
        const text = this.text(name);
        if (!pattern.test(text)) this.refuse(name, complaint);
        return text;
    }

    refuse(name, complaint) {
        throw new Fault("manifest.value", `${this.place}: ${name}: ${complaint}`);
    }

    #of(kind, name, words) {
        const member = this.#members.get(name);
        if (member.kind !== kind) this.refuse(name, `is ${kindWords(member)}, expected ${words}`);
        return member;
    }
}
