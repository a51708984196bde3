// Canonical JSON: the form of sections 4 and 6. The parser accepts nothing else, so it needs no writer to compare with.
// A value is {kind, …}: `object` has `members` (a Map), `array` has `elements`, `string` and `number` have `text`.

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LONE_SURROGATE = /\p{Surrogate}/u;
const LONGEST_NUMBER = 64;

const KIND_WORDS = {
    object: "an object", array: "an array", string: "a string", number: "a number", true: "a truth value",
    false: "a truth value", null: "null",
};

/** The kind of a value in words. */
export const kindWords = ({ kind }) => KIND_WORDS[kind];

/** What is not in canonical form, and where. */
export class NotCanonical extends Error {}

export function parseCanonical(text, deepest) {
    if (text === null) throw new NotCanonical("is not UTF-8 text");
    const parser = new Parser(text, deepest);
    const value = parser.value(1);
    if (parser.place < text.length) parser.fail("text after the end of the JSON value");
    return value;
}

class Parser {
    place = 0;

    constructor(text, deepest) {
        this.text = text;
        this.deepest = deepest;
    }

    fail(words) {
        throw new NotCanonical(`not in canonical form at character ${this.place}: ${words}`);
    }

    value(nesting) {
        const letter = this.text[this.place];
        if (letter === "{") return this.object(nesting);
        if (letter === "[") return this.array(nesting);
        if (letter === "\"") return { kind: "string", text: this.string() };
        for (const kind of ["true", "false", "null"]) {
            if (this.text.startsWith(kind, this.place)) {
                this.place += kind.length;
                return { kind };
            }
        }
        return { kind: "number", text: this.number() };
    }

    enter(nesting) {
        if (nesting > this.deepest) this.fail(`nested deeper than ${this.deepest} levels`);
        this.place += 1;
    }

    takes(letter) {
        if (this.text[this.place] !== letter) return false;
        this.place += 1;
        return true;
    }

    expect(letter) {
        if (!this.takes(letter)) this.fail(`expected ${letter}`);
    }

    object(nesting) {
        this.enter(nesting);
        const members = new Map();
        if (this.takes("}")) return { kind: "object", members };
        let last = null;
        do {
            if (this.text[this.place] !== "\"") this.fail("a member name in quotes was expected");
            const name = this.string();
            // JavaScript compares strings by UTF-16 code units, as RFC 8785 does.
            if (last !== null && !(last < name)) this.fail("members are out of order, or one occurs twice");
            this.expect(":");
            members.set(name, this.value(nesting + 1));
            last = name;
        } while (this.takes(","));
        this.expect("}");
        return { kind: "object", members };
    }

    array(nesting) {
        this.enter(nesting);
        const elements = [];
        if (this.takes("]")) return { kind: "array", elements };
        do elements.push(this.value(nesting + 1)); while (this.takes(","));
        this.expect("]");
        return { kind: "array", elements };
    }

    string() {
        const start = this.place;
        let end = start + 1;
        while (end < this.text.length && this.text[end] !== "\"") end += this.text[end] === "\\" ? 2 : 1;
        const token = this.text.slice(start, end + 1);
        let value;
        try {
            value = JSON.parse(token);
        } catch {
            this.fail("a string that JSON does not allow");
        }
        // JSON.stringify uses the escapes of RFC 8785, which took them from ECMAScript.
        if (LONE_SURROGATE.test(value) || JSON.stringify(value) !== token) this.fail("a string has other escapes");
        this.place = end + 1;
        return value;
    }

    number() {
        NUMBER.lastIndex = this.place;
        const text = NUMBER.exec(this.text)?.[0];
        if (text === undefined) this.fail("a value was expected");
        if (text.length > LONGEST_NUMBER) this.fail(`a number of more than ${LONGEST_NUMBER} characters`);
        this.place += text.length;
        return text;
    }
}
