import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeMessage } from '../../src/ledger/webhooks/message.ts';
import { webhookWorkflowId } from '../../src/rules/ids.ts';
import { readAllEvents } from '../../src/ledger/events.ts';
import type { DevServer } from '../../src/temporal/dev-server.ts';
import { deliverNow } from '../../src/temporal/webhooks.ts';
import { sendJson, startHookServer, type HookServer } from '../shared/hooks/hook-server.ts';
import { addTestWebhook, readMessages, secret, webhookOf, type ToldMessage } from '../shared/hooks/webhook-world.ts';
import { withRun, type CampaignRun } from '../support/campaign-run.ts';
import { judgeRun } from '../support/judge-run.ts';
import { findTokens, textOfWorkflow } from '../support/leak-scan.ts';
import { createDatabase } from '../support/postgres-server.ts';
import { sharedServer } from '../support/shared-server.ts';
import { startTemporalForTests, type TestTemporal } from '../support/temporal-for-tests.ts';
import { until } from '../support/until.ts';

let folder: string;
let temporal: TestTemporal<DevServer>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-webhooks-'));
  temporal = await startTemporalForTests({ dataFile: join(folder, 'temporal.db') });
});
afterAll(async () => {
  await temporal.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A delivery is missed four times as late. */
const settings = {
  CARILLON_HOOK_SECRET: secret,
  CARILLON_HOOK_NETWORKS: '127.0.0.1',
  CARILLON_HEARTBEAT_TIMEOUT_MS: '2000',
};
const taken = (response: ServerResponse) => sendJson(response, {});

/** Tests share a server, and so the names of its workflows. */
const idOf = ({ id }: CampaignRun): string => `webhook-of-${id}`;

/** What the log has for the webhook, in its order. */
async function expectedOf(run: CampaignRun): Promise<ToldMessage[]> {
  const webhook = await webhookOf(run.store, idOf(run));
  const messages: ToldMessage[] = [];
  for (const event of await readAllEvents(run.store.db, 0, 100_000)) {
    const message = await writeMessage(run.store.db, webhook, event);
    if (message !== null) messages.push({ id: message.id, ...message.body });
  }
  return messages;
}

/** Each message once, where it came first. */
function withoutRepeats(messages: readonly ToldMessage[]): ToldMessage[] {
  return [...new Map(messages.toReversed().map((message) => [message.id, message])).values()].toReversed();
}

async function untilAllTaken(run: CampaignRun, hook: HookServer): Promise<ToldMessage[]> {
  const expected = await expectedOf(run);
  const [, lastSeq] = expected.at(-1)?.id.split('_') ?? [];
  await until('everything has been taken', async () => (await webhookOf(run.store, idOf(run))).cursor >= Number(lastSeq));
  const messages = readMessages(hook.calls);
  // First come, first in the log; and a repeat says the same.
  const first = [...new Set(messages.map(({ id }) => id))].map((id) => messages.find((message) => message.id === id));
  expect(first).toEqual(expected);
  expect(new Set(messages.map((message) => JSON.stringify(message))).size).toBe(expected.length);
  return messages;
}

/** Nothing of a person, no secret and no address, in what was sent and in what Temporal keeps. */
async function expectNoLeak(run: CampaignRun, hook: HookServer): Promise<void> {
  const history = await textOfWorkflow(run.client, webhookWorkflowId(idOf(run)));
  expect(history).toContain('deliver');
  expect(findTokens(history, [run.apiKey, secret, 'token=planted', '127.0.0.1', ...run.list.tokens])).toEqual([]);
  expect(findTokens(hook.calls.map(({ text }) => text).join(' '), [run.apiKey, secret, ...run.list.tokens])).toEqual([]);
  for (const worker of run.workers) expect(findTokens(worker.output(), [secret, 'token=planted'])).toEqual([]);
}

test('receiver, worker and Temporal are killed in turn, and every row and every change is told once, in order', async () => {
  const hook = await startHookServer(taken);
  await hook.stop();
  await withRun({ id: 'told', seed: 971, temporal, settings }, async (run) => {
    await addTestWebhook(run.store, hook.url, { webhookId: idOf(run) });
    const first = run.startWorker();
    await run.start();
    await until('the receiver is missed', async () => (await webhookOf(run.store, idOf(run))).failures > 0);
    const held: ServerResponse[] = [];
    hook.answerWith((response) => {
      if (hook.calls.length === 4) held.push(response);
      else taken(response);
    });
    await hook.startAgain();
    await until('a request waits for its answer', () => held.length === 1);
    await first.kill();
    run.startWorker();
    await until('the same request comes again', () => hook.calls.length > 4);
    const [before, after] = readMessages(hook.calls.slice(3, 5));
    expect(after).toEqual(before);
    temporal.server.kill();
    await temporal.server.restart();
    await hook.stop();
    await hook.startAgain();
    await run.untilEnd();
    const messages = await untilAllTaken(run, hook);
    expect(messages[0]?.type).toBe('campaign.started');
    expect(withoutRepeats(messages).filter(({ type }) => type === 'row.ended').length).toBeGreaterThanOrEqual(24);
    expect(messages.at(-1)?.type).toBe('campaign.completed');
    await judgeRun(run);
    await expectNoLeak(run, hook);
  });
});

test('of two workers the one that stood still while it waited for an answer sends nothing more out of order', async () => {
  const hook = await startHookServer((response) => sendJson(response, {}, 500));
  const held: ServerResponse[] = [];
  const databaseUrl = await createDatabase(await sharedServer('postgres'), `webhooks_${randomUUID().replaceAll('-', '')}`);
  await withRun({ id: 'told-twice', seed: 972, temporal, settings, databaseUrl }, async (run) => {
    await addTestWebhook(run.store, hook.url, { webhookId: idOf(run) });
    const stands = run.startWorker();
    await run.start();
    await run.untilEnd();
    hook.calls.length = 0;
    hook.answerWith((response) => {
      if (hook.calls.length === 2) held.push(response);
      else taken(response);
    });
    await deliverNow({ config: run.config, store: run.store, client: run.client }, idOf(run));
    await until('a request waits for its answer', () => held.length === 1);
    await stands.freeze();
    run.startWorker();
    await until('the other worker has taken over', () => hook.calls.length > 2, { limitMs: 300_000 });
    for (const response of held) taken(response);
    stands.thaw();
    await untilAllTaken(run, hook);
    const ids = readMessages(hook.calls).map(({ id }) => id);
    const seqs = ids.map((id) => Number(id.split('_')[1]));
    expect(seqs).toEqual(seqs.toSorted((one, other) => one - other));
    expect(ids.filter((id) => id === ids[1])).toHaveLength(2);
    await expectNoLeak(run, hook);
  });
});

test('a running worker begins with a webhook that Temporal was not told of, and one that is resumed is tried at once', async () => {
  const hook = await startHookServer((response) => sendJson(response, {}, 500));
  await withRun({ id: 'told-soon', seed: 973, temporal, settings, recipients: 8 }, async (run) => {
    const worker = run.startWorker();
    await until('the worker is ready', () => worker.output().includes('is ready'));
    await addTestWebhook(run.store, hook.url, { webhookId: idOf(run) });
    await run.start();
    const now = { config: run.config, store: run.store, client: run.client };
    for (let tries = 1; tries <= 6; tries += 1) {
      await until('it was tried', async () => (await webhookOf(run.store, idOf(run))).failures >= tries);
      if (tries < 6) await deliverNow(now, idOf(run));
    }
    // The next try would come after 160 s.
    hook.answerWith(taken);
    const began = performance.now();
    await deliverNow(now, idOf(run));
    await until('it is taken', async () => (await webhookOf(run.store, idOf(run))).succeededReal !== null);
    expect(performance.now() - began).toBeLessThan(100_000);
    await run.untilEnd();
    await untilAllTaken(run, hook);
  });
});
