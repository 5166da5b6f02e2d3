import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiWorld } from '../api/api-world.ts';
import { installPackage, programOf, type InstalledPackage } from '../../service/convai/installed-package.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginCampaign } from '../../ledger/scenario.ts';

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage('src/interfaces/client/index.ts');
});
afterAll(() => installed.remove());

test('every example of the page runs as one program', async () => {
  const store = await openCleanStore('sqlite');
  await beginCampaign(store);
  const world = await ApiWorld.over(store);
  const env = {
    API_URL: await world.app.listen({ port: 0, host: '127.0.0.1' }),
    API_TOKEN: world.tokenText('operate'),
  };
  const page = readFileSync(new URL('../../../docs/client.md', import.meta.url), 'utf8');
  const { code, output } = await installed.run('examples.ts', programOf(page), env);
  expect(output).toMatch(/there is no such campaign[^]*campaign\.state/);
  expect(code).toBe(0);
});

test.each([
  ['a change without its campaign', `await client.pauseCampaign({});`, /'campaign' is missing/],
  ['a state that no row has', `await client.listRows({ campaign: 'a', query: { state: 'gone' } });`, /not assignable/],
  ['a list that is no Blob', `await client.updateList({ campaign: 'a', list: 'list.csv' });`, /not assignable/],
  ['an answer that is something else', `(await client.showFunnel({ campaign: 'a' })).listed satisfies string;`, /satisfy/],
])('the types refuse %s', async (_name, line, says) => {
  const begin = `import { createCarillonClient } from 'carillon/client';\nexport const client = createCarillonClient({ baseUrl: '', token: '' });\n`;
  const { code, output } = await installed.check('wrong.ts', begin + line);
  expect(code).not.toBe(0);
  expect(output).toMatch(says);
});
