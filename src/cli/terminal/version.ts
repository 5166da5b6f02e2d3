import { readFileSync } from 'node:fs';
import { packageFolder } from '../../input/package-folder.ts';

/** Carillon's version, from its package.json. */
export function readVersion(): string {
  const parsed = JSON.parse(readFileSync(packageFolder('package.json'), 'utf8')) as { version: string };
  return parsed.version;
}
