import { parseJson } from './refusal-detail.ts';

/** No answer of the contract comes near this; what is nested deeper would overflow the stack of whoever writes it down. */
const mostLevels = 100;

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
