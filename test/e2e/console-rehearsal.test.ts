import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createToken } from '../../src/ledger/console/tokens.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { signIn } from '../support/sign-in.ts';
import { until } from '../support/until.ts';
import { spawnWorker } from '../support/worker-process.ts';

const list = ['phone,name', ...[1, 2, 3, 4, 5].map((n) => `+1212555013${n},Guest ${n}`)].join('\n');

test('a campaign that is being made on the page is rehearsed there, on a world of its own', { timeout: 240_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-rehearsal-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const sqlitePath = join(folder, 'carillon.db');
  const store = await openStore({ sqlitePath });
  const { text: token } = await createToken(store, {
    name: 'front desk',
    role: 'operate',
    lastsMs: null,
    nowReal: Date.now(),
  });
  await store.close();
  const settings = { CARILLON_DB: sqlitePath, SVC_BASE_URL: 'http://127.0.0.1:9', TEMPORAL_ADDRESS: '127.0.0.1:9' };
  const server = spawnWorker(settings, ['serve', '--port', '0']);
  onTestFinished(() => server.kill());
  const url = await until('the page listens', () => {
    if (server.hasEnded()) throw new Error(server.output());
    return /The page is at (\S+)\/,/.exec(server.output())?.[1];
  });
  const headers = { cookie: await signIn(url, token), origin: url };
  const post = async (path: string, body: FormData | URLSearchParams) => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body, redirect: 'manual' });
    expect(answer.status, await answer.text()).toBe(303);
    return answer.headers.get('location') ?? '';
  };
  const form = new FormData();
  form.append('list', new Blob([list]), 'guests.csv');
  const path = (await post('/new', form)).replace(/\/columns$/, '');
  await post(`${path}/columns`, new URLSearchParams({ 'list.phone': 'phone' }));
  await post(`${path}/words`, new URLSearchParams({ first_message: 'Hello {{ name }}.' }));
  const calls = { id: 'autumn', agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', hours: 'any' };
  await post(`${path}/calls`, new URLSearchParams({ ...calls, 'retry.max_attempts': '1' }));

  await post(`${path}/rehearsal`, new URLSearchParams());
  const ended = await until(
    'the rehearsal has ended',
    async () => {
      const text = await (await fetch(`${url}${path}/rehearsal`, { headers })).text();
      return !text.includes('It is being rehearsed') && text;
    },
    { limitMs: 200_000, everyMs: 500 },
  );
  expect(ended).toContain('The campaign went as it should.');
  expect(ended).toContain('5 of 5');
  expect(ended).not.toContain('+121255501');
});
