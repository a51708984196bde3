// What a rule of the format found: its code, words for people, and the entry that it is about.

export class Fault extends Error {
    constructor(code, message, entry) {
        super(message);
        this.code = code;
        this.entry = entry;
    }

    /** The same finding, about an entry. */
    about(entry) {
        return new Fault(this.code, this.message, entry);
    }
}

/** A file that this page cannot judge. It is not a finding about a bundle. */
export class Unreadable extends Error {}
