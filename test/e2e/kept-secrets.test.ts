import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { campaignWorkflowId } from '../../src/domain/ids.ts';
import { createWorld, until } from '../cli/campaign-world.ts';
import { startHookServer } from '../hooks/hook-server.ts';
import { findTokens, textOfWorkflow } from '../support/leak-scan.ts';
import { connectSharedTemporal } from '../support/temporal-for-tests.ts';

const secrets = ['pq_AskKey83', 'pq_EndKey84', 'pq_HookSecret85-0123456789', 'sk_sandbox_ok'];
const [askKey = '', endKey = '', hookSecret = ''] = secrets;

/** All that stands in the files of a folder, the write-ahead log of the database among them. */
function textOfFolder(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8')).join('\n');
}

test('the keys of hooks are used, and stand in no database, write-ahead log, result, event, log or history', async () => {
  const hook = await startHookServer();
  const env = {
    CARILLON_HOOK_SECRET: hookSecret,
    CARILLON_HOOK_NETWORKS: '127.0.0.1',
    CARILLON_URL_ASK: `${hook.url}&key=${askKey}`,
    CARILLON_URL_END: `${hook.url}&key=${endKey}`,
    CARILLON_LOG_LEVEL: 'debug',
  };
  const world = await createWorld({}, env);
  const worker = await world.work();
  const yaml = [
    'pre_dial: { url: env://CARILLON_URL_ASK }',
    'on_completion: { url: env://CARILLON_URL_END }',
    'retry: { max_attempts: 1 }',
  ];
  const said = [await world.run('start', world.writeCampaign({ rows: 4, yaml }))];
  said.push(
    await world.run('results', world.id, '--wait', '--output', world.path('results.csv')),
    await world.run('status', world.id, '--json'),
    await world.run('events', world.id, '--json'),
    await world.run('report', world.id),
    await world.run('results', world.id, '--format', 'jsonl', '--output', world.path('results.jsonl')),
  );
  expect(said.filter(({ code }) => code !== 0)).toEqual([]);
  const keys = () => new Set(hook.calls.map(({ path }) => new URL(path, hook.url).searchParams.get('key')));
  await until(() => keys().has(endKey));
  expect(keys()).toEqual(new Set([askKey, endKey]));

  // The worker still has the database open, so that its write-ahead log is there.
  expect(existsSync(world.path('carillon.db-wal'))).toBe(true);
  const files = textOfFolder(world.folder);
  expect(findTokens(files, ['env://CARILLON_URL_ASK', 'Row1'])).toHaveLength(2);
  expect(findTokens(files, secrets)).toEqual([]);

  const temporal = await connectSharedTemporal();
  const history = await textOfWorkflow(temporal.client, campaignWorkflowId(world.id, 1));
  await temporal.stop();
  expect(findTokens(history, [world.id])).toEqual([world.id]);
  expect(findTokens(history, secrets)).toEqual([]);

  worker.signal('SIGTERM');
  said.push(await worker.ended);
  const told = said.map(({ stdout, stderr }) => stdout + stderr).join('\n');
  expect(findTokens(told, [world.id])).toEqual([world.id]);
  expect(findTokens(told, secrets)).toEqual([]);
});

test('a start with a key written in the campaign file is refused before anything is kept', async () => {
  const world = await createWorld({}, { CARILLON_HOOK_SECRET: hookSecret });
  const campaign = world.writeCampaign({ yaml: [`pre_dial: { url: "https://hooks.example.com/?key=${askKey}" }`] });
  const { code, stdout, stderr } = await world.run('start', campaign);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/pre_dial\.url: this cannot be used; .*env:\/\/CARILLON_URL_<NAME>/);
  expect(stderr).not.toContain(askKey);
  expect(existsSync(world.path('carillon.db'))).toBe(false);
});
