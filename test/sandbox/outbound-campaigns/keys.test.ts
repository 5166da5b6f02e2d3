import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/core/settings/settings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { noon, type Json } from '../harness.ts';
import { answers, campaigns, inThirtyDays, isAbsent, isBusy, other, read, start, submission, submit, test } from './caller.ts';

test('a repeat with the same key returns the campaign that it made, and dials nobody', async ({ sandbox }) => {
  const first = await submit(sandbox, [answers], { idempotency_key: 'one' });
  const again = await submit(sandbox, [answers], { idempotency_key: 'one' });
  expect([again.created, again.campaign.campaign_id]).toEqual([false, first.campaign.campaign_id]);
  expect((await submit(sandbox, [answers], { idempotency_key: 'two' })).created).toBe(true);
  expect(sandbox.calls()).toHaveLength(2);
});

test.each(['existing', 'conflict'] as const)('a key that comes with another body is answered as is set: %s', async (otherBody) => {
  const sandbox = await start({ otherBody });
  const { campaign } = await submit(sandbox, [answers], { idempotency_key: 'one' });
  const more = { idempotency_key: 'one', scheduled_time_unix: inThirtyDays };
  const { status, body } = await sandbox.post(`${campaigns}/submit`, submission([answers], more));
  if (otherBody === 'conflict') {
    expect([status, body.detail.code]).toEqual([409, 'idempotency_key_reused']);
    expect(body.detail.message).toContain(campaign.campaign_id);
  } else expect([status, body.created, body.campaign.scheduled_time_unix]).toEqual([200, false, null]);
  expect((await submit(sandbox, [answers], { idempotency_key: 'one' })).created).toBe(false);
  expect(sandbox.calls()).toHaveLength(1);
});

test('without a key a repeat is known by its body', async ({ sandbox }) => {
  const { campaign } = await submit(sandbox, [answers]);
  expect(await submit(sandbox, [answers])).toMatchObject({ created: false, campaign: { campaign_id: campaign.campaign_id } });
  expect((await submit(sandbox, [answers], { call_name: 'Others' })).created).toBe(true);
  expect((await submit(sandbox, [answers], { idempotency_key: 'one' })).created).toBe(true);
});

test('a service that keeps no keys carries every repeat out', async () => {
  const sandbox = await start({ keyKeptMs: 0 });
  for (const idempotency_key of ['one', 'one', undefined, undefined])
    expect((await submit(sandbox, [answers], { idempotency_key })).created).toBe(true);
});

test.each([
  [null, false],
  [86_400_000, true],
])('keys are kept for %s ms', async (keyKeptMs, created) => {
  const sandbox = await start({ keyKeptMs });
  await submit(sandbox, [answers], { idempotency_key: 'one' });
  sandbox.clock.advance(86_399_999);
  expect((await submit(sandbox, [answers], { idempotency_key: 'one' })).created).toBe(false);
  sandbox.clock.advance(1);
  expect((await submit(sandbox, [answers], { idempotency_key: 'one' })).created).toBe(created);
});

const lost = { operation: 'batch_calls', times: 1 } as const;

test.each([
  ['lost before', { ...lost, effect: { type: 'reset' } }, true],
  ['lost after', { ...lost, effect: { type: 'reset', when: 'after' } }, false],
  ['refused before', { ...lost, effect: { type: 'rate_limited' } }, true],
  ['refused after', { ...lost, effect: { type: 'rate_limited', when: 'after' } }, false],
  ['failed after', { ...lost, effect: { type: 'error', status: 503, when: 'after' } }, false],
] as const)('what a request that was %s made is told by a repeat with its key', async (_what, fault, created) => {
  const sandbox = await start({}, { faults: [fault] });
  const once = submission([answers], { idempotency_key: 'one' });
  const first = await sandbox.post(`${campaigns}/submit`, once).catch(() => null);
  expect([null, 429, 503]).toContain(first?.status ?? null);
  const fence = await submit(sandbox, [answers], { idempotency_key: 'one', scheduled_time_unix: inThirtyDays });
  expect([fence.created, fence.campaign.scheduled_time_unix]).toEqual([created, created ? inThirtyDays : null]);
});

test('a fault finds a campaign by its agent, its caller number, and who is called', async () => {
  const effect = { type: 'error', status: 503 } as const;
  const hit = async (match: { agent?: string; number?: string }): Promise<number> => {
    const sandbox = await start({}, { faults: [{ operation: 14, ...match, effect }] });
    return (await sandbox.post(`${campaigns}/submit`, submission([answers]))).status;
  };
  const matches = [
    { agent: 'agent_reminders' },
    { number: 'pn_main' },
    { number: '0100' },
    { agent: 'agent_survey' },
    { number: 'pn_second' },
  ];
  expect(await Promise.all(matches.map(hit))).toEqual([503, 503, 503, 201, 201]);
});

test('the same seed makes the same campaigns, and the journal names what they accepted', async () => {
  const told = async (seed: string): Promise<string> => {
    const sandbox = await start({}, { seed });
    const { campaign } = await submit(sandbox, [answers, isBusy]);
    sandbox.clock.advance(3_600_000);
    const [calls, leads] = [await read(sandbox, `${campaign.campaign_id}/calls`), await read(sandbox, `${campaign.campaign_id}/leads`)];
    const [entry] = sandbox.journal();
    expect(entry).toMatchObject({ operation: 'batch_calls', callsRequested: 2, callsAccepted: 2, batchId: sandbox.calls()[0]?.batchId });
    return JSON.stringify([campaign, calls, leads]);
  };
  expect(await told('a')).toBe(await told('a'));
  expect(await told('a')).not.toBe(await told('b'));
});

test('a request that hangs and is carried out when its key is taken creates nothing', async ({ sandbox }) => {
  await sandbox.post('/_sandbox/gates', { point: 'batch_received' });
  const hanging = sandbox.post(`${campaigns}/submit`, submission([answers], { idempotency_key: 'one' }));
  await sandbox.get('/_sandbox/gates/wait?point=batch_received');
  const fence = await submit(sandbox, [answers], { idempotency_key: 'one', scheduled_time_unix: inThirtyDays });
  const id = fence.campaign.campaign_id;
  expect((await sandbox.post(`${campaigns}/${id}/stop`)).body.status).toBe('stopped');
  sandbox.gates.release();
  expect((await hanging).body).toMatchObject({ created: false, campaign: { campaign_id: id, status: 'stopped' } });
  sandbox.clock.advance(40 * 86_400_000);
  expect((await read(sandbox, `${id}/calls`)).calls).toMatchObject([{ status: 'cancelled', outcome: 'cancelled', conversation_id: null }]);
  expect(sandbox.calls().filter(({ dialedAt }) => dialedAt !== null)).toEqual([]);
});

test('the list and the reports lag as is set', async () => {
  const sandbox = await start({ listLagMs: 60_000, reportLagMs: 30_000 });
  const { campaign } = await submit(sandbox, [isBusy, other], { target_concurrency_limit: 1 });
  const id = campaign.campaign_id;
  const listed = async (): Promise<number> => (await sandbox.read(campaigns)).campaigns.length;
  const statuses = async (): Promise<string[]> => (await read(sandbox, `${id}/calls`)).calls.map((call: Json) => call.status);
  const total = async (): Promise<number> => (await read(sandbox, `${id}/progress`)).leads.total;
  expect([await listed(), await statuses(), await total()]).toEqual([0, [], 0]);
  expect((await read(sandbox, id)).campaign_id).toBe(id);
  sandbox.clock.advance(30_000);
  expect([await listed(), await statuses(), await total()]).toEqual([0, ['queued', 'submitted'], 2]);
  expect(sandbox.calls().map(({ dialedAt }) => dialedAt !== null)).toEqual([true, true]);
  sandbox.clock.advance(30_000);
  expect([await listed(), await statuses(), await total()]).toEqual([1, ['submitted', 'completed'], 2]);
});

test.each([
  ['leads', 'row_0', /^intent_/],
  ['everywhere', 'row_0', /^row_0$/],
  ['nowhere', null, /^intent_/],
] as const)("a recipient's own id comes back in %s", async (recipientIds, ofLead, inRecord) => {
  const sandbox = await start({ recipientIds });
  const { campaign } = await submit(sandbox, [answers]);
  expect((await read(sandbox, `${campaign.campaign_id}/leads`)).leads[0].recipient_id).toBe(ofLead);
  const record = await sandbox.record(0);
  expect(record.metadata.batch_call.batch_call_recipient_id).toMatch(inRecord);
});

test('campaigns and their keys outlast the process, however sudden its end, and an export has them', async () => {
  const folder = temporaryFolder();
  const options = (data: string): SandboxOptions => ({ clock: 'manual', epochMs: noon, data: join(folder, data) });
  const killed = await start({}, options('a'));
  const once = { idempotency_key: 'one', target_concurrency_limit: 1 };
  const id = (await submit(killed, [answers, other, isBusy], once)).campaign.campaign_id;
  await killed.post(`${campaigns}/${id}/pause`);
  const { leads } = await read(killed, `${id}/leads`);
  await killed.delete(`${campaigns}/${id}/leads/${leads[0].lead_id}`);
  // As the file is the moment after the last answer.
  await copyFile(join(folder, 'a'), join(folder, 'b'));
  const [again, imported] = [await start({}, options('b')), await start()];
  const exported = await killed.read('/_sandbox/export');
  expect((await imported.post('/_sandbox/import', exported)).status).toBe(200);
  for (const sandbox of [again, imported]) {
    const repeat = await submit(sandbox, [answers, other, isBusy], once);
    expect([repeat.created, repeat.campaign.campaign_id, repeat.campaign.status]).toEqual([false, id, 'paused']);
    expect((await read(sandbox, `${id}/leads`)).leads).toMatchObject([
      { recipient_id: 'row_2', terminal_disposition: 'removed' },
      { recipient_id: 'row_1', terminal_disposition: null },
      { recipient_id: 'row_0', attempt_count: 1 },
    ]);
    await sandbox.post('/_sandbox/clock/advance', { ms: 3_600_000 });
    expect(sandbox.calls().filter(({ dialedAt }) => dialedAt !== null)).toHaveLength(1);
  }
  const next = await submit(again, [isAbsent]);
  expect(next.campaign.campaign_id).not.toBe(id);
});
