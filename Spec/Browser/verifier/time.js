// Times: sections 4.2 and 6. A time is {seconds, nanos}, counted from 1970 in UTC.

const TIME = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const FIRST = secondsOf(1, 1, 1, 0, 0, 0);
const LAST = secondsOf(9999, 12, 31, 23, 59, 59);

/** The time of a text in the grammar of section 6; null for another text, and outside the years 0001 to 9999. */
export function parseTime(text) {
    const match = TIME.exec(text);
    if (!match) return null;
    const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return null;
    if (hour > 23 || minute > 59 || second > 59) return null;
    const offset = offsetOf(match[8]);
    if (offset === null) return null;
    const seconds = secondsOf(year, month, day, hour, minute, second) - offset;
    if (seconds < FIRST || seconds > LAST) return null;
    return { seconds, nanos: Number((match[7] ?? "").padEnd(9, "0")) };
}

/** A time, or the first moment of a date in UTC: section 10. */
export const parseTimeOrDate = text => parseTime(DATE.test(text) ? `${text}T00:00:00Z` : text);

/** Whether a time comes before another one, with all digits. */
export const isBefore = (one, other) =>
    one.seconds < other.seconds || (one.seconds === other.seconds && one.nanos < other.nanos);

/** A time in UTC, truncated to milliseconds, as the manifest has it. */
export const utcText = ({ seconds, nanos }) => new Date(seconds * 1000 + Math.floor(nanos / 1e6)).toISOString();

/** The time of a manifest's `captured_at`; null if it does not have exactly that form. */
export function parseManifestTime(text) {
    const time = /^.{19}\.\d{3}Z$/.test(text) ? parseTime(text) : null;
    return time && utcText(time) === text ? time : null;
}

function offsetOf(zone) {
    if (zone === "Z") return 0;
    const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4))];
    if (hours > 23 || minutes > 59 || zone === "-00:00") return null;
    return (zone[0] === "-" ? -1 : 1) * (hours * 3600 + minutes * 60);
}

function daysOf(year, month) {
    const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
    return DAYS[month - 1] + (month === 2 && isLeap ? 1 : 0);
}

function secondsOf(year, month, day, hour, minute, second) {
    const before = year - 1;
    let days = before * 365 + Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400) - 719162;
    for (let earlier = 1; earlier < month; earlier++) days += daysOf(year, earlier);
    return (days + day - 1) * 86400 + hour * 3600 + minute * 60 + second;
}
