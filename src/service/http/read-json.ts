import { parseJson } from './refusal-detail.ts';

/** No answer of the contract comes near this; what is nested deeper would overflow the stack of whoever writes it down. */
const mostLevels = 100;

/** A record has thousands of values. Millions of empty ones fit into an answer, and keep a process busy for minutes and gigabytes. */
export const mostValues = 300_000;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openings: ReadonlySet<number> = new Set(Buffer.from('[{'));
/** What closes an opening stands two places after it in ASCII. */
const toClosing = 2;

/** Whether a body has more values than any answer needs: known by a look at its bytes, before anything is made of them. */
export function hasTooManyValues(body: Buffer): boolean {
  if (body.length <= mostValues) return false;
  let values = 0;
  let isText = false;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === quote) isText = !isText;
    else if (isText && byte === backslash) at += 1;
    else if (isText || byte === undefined) continue;
    else if (byte === comma || (openings.has(byte) && body[at + 1] !== byte + toClosing)) values += 1;
    if (values > mostValues) return true;
  }
  return false;
}

/** The value of a body, in which what stands deeper than any answer needs is null; undefined when the body is not JSON. */
export function readJson(body: Buffer): unknown {
  return cutBelow(parseJson(body.toString('utf8')), mostLevels);
}

function cutBelow(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return null;
  const container = value as Record<string, unknown>;
  for (const key of Object.keys(container)) {
    const inner = container[key];
    if (typeof inner === 'object' && inner !== null) container[key] = cutBelow(inner, levels - 1);
  }
  return container;
}
