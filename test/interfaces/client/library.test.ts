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

const mistakes = [
  { what: 'a change without its campaign', line: `await client.pauseCampaign({});`, says: /'campaign' is missing/ },
  { what: 'a state that no row has', line: `await client.listRows({ campaign: 'a', query: { state: 'gone' } });`, says: /not assignable/ },
  { what: 'a list that is no Blob', line: `await client.updateList({ campaign: 'a', list: 'list.csv' });`, says: /not assignable/ },
  {
    what: 'an answer that is something else',
    line: `(await client.showFunnel({ campaign: 'a' })).listed satisfies string;`,
    says: /satisfy/,
  },
];

test('the types refuse a wrong input and a wrong reading of an answer', async () => {
  const begin = `import { createCarillonClient } from 'carillon/client'; const client = createCarillonClient({ baseUrl: '', token: '' });`;
  const { code, output } = await installed.check('wrong.ts', [begin, ...mistakes.map(({ line }) => line)].join('\n'));
  expect(code).not.toBe(0);
  for (const [index, { what, says }] of mistakes.entries()) {
    const found = output.split(/^(?=wrong\.ts\()/m).filter((text) => text.startsWith(`wrong.ts(${index + 2},`));
    expect({ what, found: found.join('') }).toEqual({ what, found: expect.stringMatching(says) });
  }
  expect(output).not.toContain('wrong.ts(1,');
});
