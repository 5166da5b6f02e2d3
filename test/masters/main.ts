/** Writes what every face says into a folder, so that two commits can be compared: npm run masters -- DIR */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';

const [folder, ...others] = process.argv.slice(2);
if (folder === undefined || others.length > 0 || folder.startsWith('-')) {
  process.stderr.write('Give one folder: npm run masters -- DIR. Compare two of them with diff -r.\n');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
if (readdirSync(folder).length > 0) {
  process.stderr.write(`${folder} is not empty: masters of another commit would stay in it. Give another folder.\n`);
  process.exit(2);
}
process.stderr.write('This takes about four minutes.\n');
const env = { ...process.env, MASTERS: resolve(folder) };
const { status } = spawnSync('npx', ['vitest', 'run', 'test/masters/masters.test.ts'], { env, stdio: ['ignore', 2, 2] });
process.exit(status === 0 ? 0 : 1);
