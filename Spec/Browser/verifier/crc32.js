// The CRC-32 of RFC 1952, four bytes at a time.

const TABLES = [new Int32Array(256), new Int32Array(256), new Int32Array(256), new Int32Array(256)];
for (let byte = 0; byte < 256; byte++) {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? value >>> 1 ^ 0xedb88320 : value >>> 1;
    TABLES[0][byte] = value;
}
for (let byte = 0; byte < 256; byte++) {
    for (let table = 1; table < 4; table++) {
        const before = TABLES[table - 1][byte];
        TABLES[table][byte] = before >>> 8 ^ TABLES[0][before & 255];
    }
}

/** `before` is the CRC-32 of the bytes before these. */
export function crc32(bytes, before) {
    const [one, two, three, four] = TABLES;
    let crc = ~before, place = 0;
    for (const end = bytes.length - 3; place < end; place += 4) {
        crc ^= bytes[place] | bytes[place + 1] << 8 | bytes[place + 2] << 16 | bytes[place + 3] << 24;
        crc = four[crc & 255] ^ three[crc >>> 8 & 255] ^ two[crc >>> 16 & 255] ^ one[crc >>> 24];
    }
    for (; place < bytes.length; place++) crc = crc >>> 8 ^ one[(crc ^ bytes[place]) & 255];
    return ~crc >>> 0;
}
