import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createLogger } from '../../src/shared/logger.ts';
import { patient, withRun, type CampaignRun } from '../support/campaign-run.ts';
import { judgeRun } from '../support/judge-run.ts';
import { findTokens, textOf, textOfWorkflow } from '../support/leak-scan.ts';
import { plantList } from '../support/planted-list.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { runCommand } from '../support/worker-process.ts';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { createWorld, until } from '../interfaces/cli/campaign-world.ts';
import { startHookServer } from '../shared/hooks/hook-server.ts';

const temporal = useSharedTemporal();

const campaignFile = (id: string): string => `id: ${id}
agent_id: agent_reminders
from_phone_number_id: pn_main
list:
  file: recipients.csv
  phone: phone
first_message: Hello {{ name }}, I am calling about your appointment {{ appointment }}.
variables:
  values:
    note: '{{ note }}'
hours: { ${['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => `${day}: '00:00-24:00'`).join(', ')} }
law: off
retry: { max_attempts: 2, busy: 5m, no_answer: 5m, unreached: 5m, voicemail: never, failed: 5m }
pacing: { max_concurrent_calls: 24, batch_size: 8 }
opt_out:
  - { collected: opt_out, equals: [true] }
`;

/** What the service answers to a call to the number that it refuses. */
async function refusalOf({ sandbox, apiKey, list }: CampaignRun): Promise<string> {
  const calls = list.rows.filter((row) => row.e164?.endsWith('0120')).map((row) => ({ to_phone_number: row.e164 }));
  const answer = await fetch(`${sandbox.url}/v1/convai/phone-numbers/batch-calls`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', calls }),
  });
  return answer.text();
}

test('a campaign in trouble keeps key, numbers and fields out of histories, logs, errors and status', async () => {
  // 0120: the service refuses the number and repeats it in its refusal.
  await withRun(
    { id: 'secrets', seed: 1101, temporal, recipients: 30, fates: ['0120', '0108', '0104'], settings: patient },
    async (run) => {
      expect(await refusalOf(run)).toContain(run.list.rows.find((row) => row.e164?.endsWith('0120'))?.e164);
      run.sandbox.addFaults([
        { operation: 'batch_calls', nth: 3, effect: { type: 'rate_limited', retryAfter: 'seconds', seconds: 60 } },
        { operation: 'batch_calls', nth: 2, effect: { type: 'truncate' } },
        { operation: 'get_conversation', every: 7, effect: { type: 'error', status: 500 } },
        { operation: 'get_conversation', nth: 5, effect: { type: 'truncate' } },
        { operation: 'list_conversations', every: 5, effect: { type: 'html', status: 502 } },
      ]);
      const path = join(run.folder, 'campaign.yaml');
      await writeFile(path, campaignFile(run.id));
      await writeFile(join(run.folder, 'recipients.csv'), run.list.toCsv());
      run.startWorker();
      const said = [await runCommand(['start', path], run.settings), await runCommand(['start', path, '--json'], run.settings)];
      await run.untilEnd();
      said.push(await runCommand(['status', run.id], run.settings), await runCommand(['status', run.id, '--json'], run.settings));
      expect(said.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
      expect(findTokens(textOf(said), [run.apiKey, ...run.list.tokens])).toEqual([]);

      const lost = await run.store.db.selectFrom('posts').selectAll().where('verdict', '=', 'unknown').execute();
      expect(lost.length).toBeGreaterThan(0);
      const ledger = await judgeRun(run, { lostReplies: lost.map((post) => `${post.batch_id}/${post.k}`) });
      expect(ledger.recipients.find((row) => row.e164?.endsWith('0120'))).toMatchObject({
        outcome: 'undialable',
        reason: 'invalid_number',
      });
    },
  );
});

test('the scan finds what is planted in a payload, a failure or a reason that Temporal keeps', async () => {
  const { tokens } = plantList(1102, 20);
  const [inPayload, inReason, inMemo, nowhere] = tokens as [string, string, string, string];
  const handle = await temporal.client.workflow.start('planted', {
    taskQueue: 'nobody',
    workflowId: 'planted',
    args: [{ deep: { inside: [`before ${inPayload} after`] } }],
    memo: { note: Buffer.from(inMemo).toString('base64') },
  });
  await handle.terminate(`because of ${inReason}`);
  const text = await textOfWorkflow(temporal.client, 'planted');
  expect(findTokens(text, [inPayload, inReason, inMemo, nowhere])).toEqual([inPayload, inReason, inMemo]);
});

test('the scan finds what is planted in an error, an address or a log line, and the log censors what it knows', () => {
  const [inError, inCause, inLine, censored] = plantList(1103, 20).tokens as [string, string, string, string];
  expect(findTokens(textOf(new Error(inError, { cause: { url: `/x?y=${inCause}` } })), [inError, inCause])).toEqual([inError, inCause]);
  const lines: string[] = [];
  const logger = createLogger('trace', { write: (line) => void lines.push(line) });
  logger.trace({ note: inLine, call: { e164: censored } }, 'a line');
  expect(findTokens(lines.join(''), [inLine, censored])).toEqual([inLine]);
});

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

  const history = await textOfWorkflow(temporal.client, campaignWorkflowId(world.id, 1));
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
