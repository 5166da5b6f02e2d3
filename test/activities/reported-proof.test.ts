import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { findUnknown } from '../../src/operations/control/recover.ts';
import { requireCampaign } from '../../src/operations/control/ledger.ts';
import { serviceList } from '../../src/operations/control/service.ts';
import { connectService } from '../../src/service/registry.ts';
import { readConfig } from '../../src/shared/config.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { minuteMs } from '../support/campaign-rules.ts';
import { beginReported, once, reporting, timesOf, type ReportedWorld } from './reported-campaign.ts';
import type { Store } from '../../src/ledger/tx.ts';

/** Also checks what verify and recovery conclude from the database. */
async function begin(world: ReportedWorld) {
  const campaign = await beginReported(world);
  const { sandbox, service, store: own } = campaign;
  const config = readConfig({ SVC_BASE_URL: sandbox.url, SVC_API: world.api });
  return {
    ...campaign,
    async verify(store: Store = own, way = service) {
      const { rules, notes } = await verifyLog(store.db, null, { service: serviceList(config, way) });
      const violations = rules.flatMap((rule) => rule.violations);
      return { rules: [...new Set(violations.map(({ rule }) => rule))], violations, notes: notes.join('\n') };
    },
    unknown: async (store: Store = own, way = service) => findUnknown(way, store, await requireCampaign(store, 'spring')),
    /** A copy of the database as it is now. */
    async copy(): Promise<Store> {
      const folder = mkdtempSync(join(tmpdir(), 'carillon-copy-'));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      const sqlitePath = join(folder, 'copy.db');
      await sql`vacuum into ${sql.lit(sqlitePath)}`.execute(own.db);
      const store = await openStore({ sqlitePath });
      onTestFinished(() => store.close());
      return store;
    },
    async idOf(n: number): Promise<string> {
      const query = own.db.selectFrom('batches').select('service_batch_id').where('n', '=', n);
      return (await query.executeTakeFirstOrThrow()).service_batch_id ?? '';
    },
    async submit(title: string, reference = 'theirs'): Promise<string> {
      const to = campaign.numbers[0] ?? '';
      const calls = [{ ref: reference, to, override: null, variables: null }];
      const from = { agentId: 'agent_reminders', callerId: 'pn_main', variablesKey: null, concurrency: null };
      const once = { requestId: 'x', mayBegin: () => true };
      const placed = await service.place({ ...from, mark: randomUUID(), title, calls }, once);
      return placed.kind === 'accepted' ? placed.serviceBatchId : '';
    },
  };
}

const apis = ['batch-calling', 'campaigns'] as const;
const small = { rules: { pacing: { batchSize: 3 } } } as const;

test.each(apis)('what the service has of a campaign is what the log has: %s', async (api) => {
  const campaign = await begin({ api, ...small, people: 9, sandbox: { concurrency: 1 } });
  await campaign.run(2 * minuteMs);
  await campaign.pause();
  await campaign.run(15 * minuteMs);
  const { violations, notes } = await campaign.verify();
  expect(violations).toEqual([]);
  expect(notes).toMatch(/The service lists \d batches with a mark of this database/);
  expect(notes).not.toMatch(/not judged|any more|leave out|of its own/);
  expect(await campaign.unknown()).toEqual({ kind: 'conversations', calls: [] });
  // A withdrawn call must not have been placed.
  const rung = reporting((reports) => reports.map((report) => (report.state === 'withdrawn' ? { ...report, state: 'over' } : report)));
  const { violations: made } = await campaign.verify(campaign.store, rung(campaign.service));
  expect(made.map(({ what }) => what)).toContainEqual(expect.stringContaining('was given back by the log, and the service made it'));
});

test.each(apis)(
  'requests that were lost, and those that were made to look for them, are no batches that the log lacks: %s',
  async (api) => {
    const campaign = await begin({ api, ...small });
    campaign.sandbox.addFaults({ operation: 'batch_calls', times: 1, effect: { type: 'reset', when: 'before' } });
    await campaign.run(minuteMs);
    campaign.sandbox.addFaults({ operation: 'batch_calls', times: 1, effect: { type: 'reset', when: 'after' } });
    await campaign.run(40 * minuteMs);
    expect((await campaign.verify()).violations).toEqual([]);
    expect(await campaign.unknown()).toEqual({ kind: 'conversations', calls: [] });
  },
);

test.each(apis)('a database from before the last batch: judge and recovery name it, though nobody has picked up yet: %s', async (api) => {
  const campaign = await begin({ api, ...small });
  await campaign.dial();
  const before = await campaign.copy();
  await campaign.dial();
  const lost = `spring/1/2 (${await campaign.idOf(2)})`;
  expect(await campaign.unknown(before)).toEqual({ kind: 'batches', calls: [lost] });
  const { rules, violations } = await campaign.verify(before);
  expect(rules).toEqual(['service_differs']);
  expect(violations).toMatchObject([{ campaignId: 'spring', what: expect.stringContaining('from a request for spring/1/2') }]);
  expect((await campaign.verify()).rules).toEqual([]);
});

test('a database from before the last batch, which was deleted at the service: its conversations are named', async () => {
  const campaign = await begin({ api: 'batch-calling', ...small });
  await campaign.dial();
  const before = await campaign.copy();
  await campaign.dial();
  const id = await campaign.idOf(2);
  await campaign.run(3 * minuteMs);
  await campaign.sandbox.request('DELETE', `/v1/convai/batch-calling/${id}`);
  const { kind, calls } = await campaign.unknown(before);
  expect([kind, calls.length]).toEqual(['conversations', 3]);
});

test.each(apis)("calls of others with the campaign's agent stop no recovery, not even to people of the list: %s", async (api) => {
  const campaign = await begin({ api, ...small });
  await campaign.run(minuteMs);
  // Of another installation, and of a program that calls one recipient.
  await campaign.submit('0123456789ab:spring/1/2', '0123456789ab:spring/1/1');
  const single = { agent_id: 'agent_reminders', agent_phone_number_id: 'pn_main', to_number: campaign.numbers[1] };
  expect((await campaign.sandbox.request('POST', '/v1/convai/twilio/outbound-call', single)).status).toBe(200);
  campaign.sandbox.clock.advance(5 * minuteMs);
  await campaign.run(10 * minuteMs);
  expect(await campaign.unknown()).toEqual({ kind: 'conversations', calls: [] });
  expect((await campaign.verify()).rules).toEqual([]);
  // Records alone cannot distinguish them from lost calls.
  const { sandbox } = campaign;
  const contract = connectService({ baseUrl: sandbox.url, apiKey: 'sk_sandbox_ok' });
  onTestFinished(() => contract.close());
  expect((await campaign.unknown(campaign.store, contract)).calls).not.toEqual([]);
});

test.each(apis)('a batch with a mark of ours that the log does not have: %s', async (api) => {
  const campaign = await begin({ api, ...small });
  await campaign.run(minuteMs);
  const id = await campaign.submit(`${campaign.store.ledgerId}:autumn/1/7`);
  const { violations } = await campaign.verify();
  const what = `the service has batch ${id} from a request for autumn/1/7 that is not in the log`;
  expect(violations).toMatchObject([{ rule: 'service_differs', campaignId: 'autumn', what }]);
  expect(await campaign.unknown()).toEqual({ kind: 'batches', calls: [`autumn/1/7 (${id})`] });
});

test('a batch that is deleted at the service: the report says that nothing can be judged by it', async () => {
  const campaign = await begin({ api: 'batch-calling', ...small });
  await campaign.run(30 * minuteMs);
  await campaign.sandbox.request('DELETE', `/v1/convai/batch-calling/${await campaign.idOf(1)}`);
  const { rules, notes } = await campaign.verify();
  expect(rules).toEqual([]);
  expect(notes).toContain('does not have these batches any more, so it says nothing of their calls: spring/1/1');
});

test('a batch whose people somebody had called again at the service', async () => {
  const nobody = { answered: 0, busy: 0, no_answer: 1, voicemail: 0, failed: 0 };
  const campaign = await begin({ api: 'batch-calling', sandbox: { outcomeMix: nobody } });
  await campaign.run(5 * minuteMs);
  expect((await campaign.verify()).rules).toEqual([]);
  const { status } = await campaign.sandbox.request('POST', `/v1/convai/batch-calling/${await campaign.idOf(1)}/retry`);
  expect(status).toBe(200);
  const { rules, violations } = await campaign.verify();
  expect(rules).toContain('service_repeats');
  expect(violations.map(({ what }) => what)).toContainEqual(expect.stringContaining('batch spring/1/1 had not reached (retry_count 1)'));
});

test('two batches from one request are no news where the log is in doubt about it, and named where it knows of one', async () => {
  let isLost = true;
  const between: ReportedWorld['between'] = (service) => ({
    ...service,
    async place(request, sent) {
      const placed = await service.place(request, sent);
      await service.place(request, sent);
      return isLost ? { kind: 'unknown', status: 504, requestId: null, serviceMs: null, fault: 'gateway' } : placed;
    },
  });
  const doubtful = await begin({ api: 'batch-calling', between });
  await doubtful.run(30 * minuteMs);
  expect((await doubtful.verify()).violations).toEqual([]);
  isLost = false;
  const answered = await begin({ api: 'batch-calling', between });
  await answered.dial();
  expect((await answered.verify()).violations).toMatchObject([
    { rule: 'service_differs', what: expect.stringMatching(/has batch spring\/1\/1 as \S+, and the log has it as/) },
  ]);
});

test.each([
  ['another number', 'to', 'went to another number, as the service reports it'],
  ['another conversation', 'conversationId', 'has record conv_.*, and the service reports conv_'],
  ['a call that it has not made', 'state', 'has record conv_.*, and the service has not made it yet'],
] as const)('a report with %s contradicts the log', async (_what, field, words) => {
  const campaign = await begin({ api: 'batch-calling' });
  await campaign.run(20 * minuteMs);
  expect(timesOf(campaign.rang())).toEqual(once(6));
  const wrong = { to: '+12125550199', conversationId: 'conv_of_others', state: 'waiting' } as const;
  const service = reporting((reports) => reports.map((report, n) => (n === 1 ? { ...report, [field]: wrong[field] } : report)));
  const { violations } = await campaign.verify(campaign.store, service(campaign.service));
  expect(violations).toMatchObject([
    { rule: 'service_differs', what: expect.stringMatching(`call spring/\\d/1 of row spring/\\d ${words}`) },
  ]);
});
