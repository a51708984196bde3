// Tables for the codes of a deflate block.
//
// A code of at most `bits` bits is found in the first table; longer ones in a second table, to which the first one leads.
// An entry is symbol · 16 + length of the code. An entry whose low four bits are 0 leads to a second table (its place ·
// 4096 + its bits · 16), or is 0 if no code begins so.

const LONGEST_CODE = 15;
const counts = new Int32Array(LONGEST_CODE + 1);
const next = new Int32Array(LONGEST_CODE + 1);
const codes = new Int32Array(320);

/** How far the lengths use up the bit patterns: 0 is complete, above 0 incomplete, below 0 oversubscribed. */
export function remainder(lengths, first, count) {
    counts.fill(0);
    for (let symbol = 0; symbol < count; symbol++) counts[lengths[first + symbol]] += 1;
    let left = 1;
    for (let length = 1; length <= LONGEST_CODE; length++) {
        left = left * 2 - counts[length];
        if (left < 0) return left;
    }
    return left;
}

/** Fills `table` with the codes of these lengths, which are not oversubscribed. */
export function fillTable(table, bits, lengths, first, count) {
    const size = 1 << bits;
    table.fill(0, 0, size);
    counts.fill(0);
    for (let symbol = 0; symbol < count; symbol++) counts[lengths[first + symbol]] += 1;
    next[1] = 0;
    for (let length = 1; length < LONGEST_CODE; length++) next[length + 1] = (next[length] + counts[length]) << 1;
    for (let symbol = 0; symbol < count; symbol++) {
        const length = lengths[first + symbol];
        if (length === 0) continue;
        const code = reversed(next[length]++, length);
        codes[symbol] = code;
        if (length > bits) {
            // For now, the longest code that begins so.
            const start = code & (size - 1);
            if (length > table[start]) table[start] = length;
        } else {
            for (let place = code; place < size; place += 1 << length) table[place] = symbol << 4 | length;
        }
    }
    let end = size;
    for (let symbol = 0; symbol < count; symbol++) {
        const length = lengths[first + symbol];
        if (length <= bits) continue;
        const start = codes[symbol] & (size - 1);
        if (table[start] <= LONGEST_CODE) {
            const more = table[start] - bits;
            table[start] = end << 12 | more << 4;
            table.fill(0, end, end + (1 << more));
            end += 1 << more;
        }
        const [second, more] = [table[start] >>> 12, table[start] >> 4 & 255];
        for (let place = codes[symbol] >> bits; place < 1 << more; place += 1 << (length - bits)) {
            table[second + place] = symbol << 4 | length;
        }
    }
}

function reversed(code, length) {
    let result = 0;
    for (let bit = 0; bit < length; bit++) {
        result = result << 1 | code & 1;
        code >>= 1;
    }
    return result;
}
