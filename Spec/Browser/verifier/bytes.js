// Bytes, and the texts that are made from them.

const encoder = new TextEncoder();

export const utf8 = text => encoder.encode(text);

/** The text of UTF-8 bytes; null if they are not UTF-8. A byte order mark stays in the text. */
export function textOf(bytes) {
    try {
        return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
        return null;
    }
}

/** The text of bytes for a message: bytes that are not UTF-8 become replacement characters. */
export const shownText = bytes => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

/** A character for each byte. */
export function latin1(bytes) {
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return text;
}

export function hex(bytes) {
    let text = "";
    for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
    return text;
}

export function isSame(one, other) {
    if (one.length !== other.length) return false;
    for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
    return true;
}

export function isZero(bytes) {
    for (const byte of bytes) if (byte !== 0) return false;
    return true;
}

export function joined(...parts) {
    const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let place = 0;
    for (const part of parts) {
        whole.set(part, place);
        place += part.length;
    }
    return whole;
}

export async function sha256(bytes) {
    return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The bytes of base64 (section 1: with padding, unused bits are zero); null for anything else. */
export function base64Bytes(text) {
    if (!BASE64.test(text)) return null;
    const letters = atob(text);
    return btoa(letters) === text ? Uint8Array.from(letters, letter => letter.charCodeAt(0)) : null;
}

export const base64 = bytes => btoa(latin1(bytes));
