import { readFileSync } from 'node:fs';

export const sandboxVersion = readVersion();

/** From the nearest package.json above: sources and built files lie at different depths. */
function readVersion(): string {
  for (const path of ['../../../package.json', '../../../../package.json']) {
    try {
      const parsed = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as { version?: string };
      if (parsed.version !== undefined) return parsed.version;
    } catch {
      continue;
    }
  }
  return '0.0.0';
}
