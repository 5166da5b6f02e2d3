import { readFileSync } from 'node:fs';

let known: string | undefined;

/** Carillon's version, read once from its package.json: sources and built files lie at different depths below it. */
export function readVersion(): string {
  known ??= findVersion();
  return known;
}

function findVersion(): string {
  for (const path of ['../../../package.json', '../../../../package.json']) {
    let text: string;
    try {
      text = readFileSync(new URL(path, import.meta.url), 'utf8');
    } catch {
      continue;
    }
    const parsed = JSON.parse(text) as { name?: string; version?: string };
    if (parsed.name === 'carillon' && parsed.version !== undefined) return parsed.version;
  }
  throw new Error('package.json of carillon is not above its own files');
}
