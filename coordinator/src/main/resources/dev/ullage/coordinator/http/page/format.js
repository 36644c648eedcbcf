// Numbers and times as people read them. What is not known is "unknown", never 0.

export const UNKNOWN = 'unknown';
const GIB = 2 ** 30;

export const isKnown = (value) => value !== null && value !== undefined;

/** 64.0 GiB; from 1,000 on without a fraction */
export function gib(bytes) {
  if (!isKnown(bytes)) {
    return UNKNOWN;
  }
  const amount = bytes / GIB;
  return amount < 1000 ? `${amount.toFixed(1)} GiB` : `${Math.floor(amount).toLocaleString('en')} GiB`;
}

/** For a title: 68,719,476,736 bytes */
export function exact(bytes) {
  return isKnown(bytes) ? `${bytes.toLocaleString('en')} bytes` : UNKNOWN;
}

/** 61 % of something; whole, rounded down as Ullage rounds. */
export function percent(part, whole) {
  return isKnown(part) && whole > 0 ? `${Math.floor((part * 100) / whole)} %` : UNKNOWN;
}

/** Of basis points: 20 %, 12.5 % */
export function share(basisPoints) {
  return isKnown(basisPoints) ? `${Number((basisPoints / 100).toFixed(2))} %` : UNKNOWN;
}

/** 3 s, 5 min, 2 h, 4 d */
export function duration(millis) {
  if (!isKnown(millis)) {
    return UNKNOWN;
  }
  const seconds = Math.max(0, Math.round(millis / 1000));
  if (seconds < 100) {
    return `${seconds} s`;
  }
  if (seconds < 100 * 60) {
    return `${Math.round(seconds / 60)} min`;
  }
  return seconds < 100 * 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} d`;
}

/** 3 s ago; below two seconds: now */
export function ago(millis) {
  if (!isKnown(millis)) {
    return UNKNOWN;
  }
  return millis < 2000 ? 'now' : `${duration(millis)} ago`;
}

// Made once: making one takes longer than all else on a line.
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const DAY_AND_TIME = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit' });

/** 03:41 of this machine's clock; with the day when it is not within 20 hours. */
export function clock(epochMillis, now) {
  return (Math.abs(epochMillis - now) > 20 * 3600 * 1000 ? DAY_AND_TIME : TIME).format(epochMillis);
}

/** How full: 92 %, rounded down. */
export const full = (basisPoints) => (isKnown(basisPoints) ? `${Math.floor(basisPoints / 100)} %` : UNKNOWN);

/** How a shell takes a text as one word. */
export function shellWord(text) {
  return /^[A-Za-z0-9_@%+=:,./][A-Za-z0-9_@%+=:,./-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Processor time: 16 cores, 1 core, 0.5 cores */
export function cores(milli) {
  return isKnown(milli) ? `${(milli / 1000).toLocaleString('en', { maximumFractionDigits: 3 })} core${milli === 1000 ? '' : 's'}` : UNKNOWN;
}

export function count(number, what) {
  return `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`;
}

/** A sum is known only when each of its parts is. */
export function sum(values) {
  let total = 0;
  for (const value of values) {
    if (!isKnown(value)) {
      return null;
    }
    total += value;
  }
  return total;
}

/** What is worth a word about a rank's memory at the same point of each step; null when there is nothing. */
export function leakText(watch) {
  const leak = watch?.leak;
  if (leak?.state !== 'suspected') {
    return null;
  }
  return isKnown(leak.growthPerStepBytes)
    ? `leak suspected: ${(leak.growthPerStepBytes / 2 ** 20).toFixed(1)} MiB a step`
    : 'leak suspected';
}
