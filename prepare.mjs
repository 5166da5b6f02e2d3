import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { exit, stderr } from 'node:process';

// npm runs this after `npm ci` in a checkout. Without development dependencies there is no compiler: what was built stays as it is.
const has = (path) => existsSync(new URL(path, import.meta.url));
if (has('node_modules/typescript')) exit(spawnSync('npm run build', { stdio: 'inherit', shell: true }).status ?? 1);
if (!has('dist/src/interfaces/cli/main.js'))
  stderr.write('Carillon is not built here: that takes development dependencies (npm ci, then npm prune --omit=dev).\n');
