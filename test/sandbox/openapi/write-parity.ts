/** Writes docs/parity.md anew: npm run parity */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resolveConfig } from 'prettier';
import { renderParity } from './parity-page.ts';

const path = join(import.meta.dirname, '../../../docs/parity.md');
await writeFile(path, await renderParity((await resolveConfig(path)) ?? {}));
