import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { normalise } from './normaliser.ts';

export type Write = (name: string, text: string) => void;

/** Writers by topic. Each is loaded separately: a commit that lacks some writes the rest. */
export const parts: Readonly<Record<string, (write: Write) => Promise<void>>> = {
  help: async (write) => (await import('./write-faces.ts')).writeHelp(write),
  sandbox: async (write) => (await import('./write-faces.ts')).writeSandbox(write),
  sqlite: async (write) => (await import('./write-ledger.ts')).writeLedger(write, 'sqlite'),
  postgres: async (write) => (await import('./write-ledger.ts')).writeLedger(write, 'postgres'),
  requests: async (write) => (await import('./requests.ts')).writeRequests(write),
  seeds: async (write) => (await import('./digests.ts')).writeDigests(write),
};

export async function writePart(folder: string, part: string): Promise<number> {
  let files = 0;
  await parts[part]?.((name, text) => {
    const path = join(folder, part, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${normalise(text).trimEnd()}\n`);
    files += 1;
  });
  return files;
}

export const nameOf = (path: string): string => path.replaceAll(/[^\w]+/g, '_').replaceAll(/^_|_$/g, '') || 'root';

/** A line for each tag, so that `diff` shows changes whatever the indentation. */
export const splitTags = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, (tag) => tag.replaceAll(/\s+/g, ' ').replace(' >', '>'))
    .replaceAll(/>\s*</g, '>\n<')
    .replaceAll(/\n\s+/g, '\n');
