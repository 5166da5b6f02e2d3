import { expect, test } from 'vitest';
import { storeLookUpProof } from '../../src/ledger/campaign/lookup-proof.ts';
import type { CallService } from '../../src/service/port/call-service.ts';
import { noon } from '../sandbox/harness.ts';
import { hourMs, minuteMs } from '../support/campaign-rules.ts';
import { beginReported, once, reporting, tickMs, timesOf } from './reported-campaign.ts';

const apis = ['batch-calling', 'campaigns'] as const;

test.each(apis)('what ended while nobody looked is looked at twice before anybody is in doubt: %s', async (api) => {
  let isTold = false;
  const between = reporting((reports) =>
    reports.map((report) => (report.state === 'withdrawn' && !isTold ? { ...report, state: 'waiting' as const } : report)),
  );
  const campaign = await beginReported({ api, between, sandbox: { concurrency: 1 } });
  await campaign.run(tickMs);
  await campaign.pause();
  await campaign.run(20 * minuteMs);
  isTold = true;
  campaign.sandbox.clock.advance(2 * hourMs);
  await campaign.run(10 * minuteMs);
  expect((await campaign.rows()).map(({ outcome }) => outcome)).toEqual(
    campaign.rang().map(({ times }) => (times > 0 ? 'completed' : null)),
  );
  expect(timesOf(campaign.rang()).filter((times) => times > 0)).toHaveLength(1);
  expect(await campaign.proof()).toEqual([]);
});

test.each(apis)('a clock that is set between two looks at an end does not make them one: %s', async (api) => {
  let skewMs = 0;
  const lateMs = 40_000;
  const ends = new Map<string, number>();
  let now = () => 0;
  const between = reporting((reports) =>
    reports.map((report) => {
      if (report.ref === null || report.state !== 'over') return { ...report, conversationId: null };
      const end = ends.get(report.ref) ?? now();
      ends.set(report.ref, end);
      return now() < end + lateMs ? { ...report, conversationId: null } : report;
    }),
  );
  const campaign = await beginReported({ api, between, skewMs: () => skewMs, rules: { timing: { pollMs: tickMs } } });
  now = () => campaign.sandbox.clock.now();
  await campaign.run(hourMs, async () => {
    if (ends.size > 0) skewMs = 5 * minuteMs;
    return (await campaign.rows()).every(({ state }) => state === 'done');
  });
  expect([ends.size, ...timesOf(campaign.rang())]).toEqual([6, ...once(6)]);
  expect((await campaign.rows()).map(({ outcome }) => outcome)).toEqual(campaign.numbers.map(() => 'completed'));
  expect(await campaign.proof()).toEqual([]);
});

test.each(apis)('a clock that is set back while a report is read leaves nobody in doubt: %s', async (api) => {
  let skewMs = 0;
  const between = reporting((reports) => {
    skewMs = -hourMs;
    return reports.map((report) => (report.state === 'over' ? report : { ...report, conversationId: null }));
  });
  const campaign = await beginReported({ api, between, skewMs: () => skewMs });
  await campaign.run(tickMs);
  skewMs = 0;
  await campaign.run(hourMs, campaign.isDone);
  expect((await campaign.rows()).map(({ outcome }) => outcome)).toEqual(campaign.numbers.map(() => 'completed'));
});

test('a request without an answer may still arrive after a clock was set ahead and back: nobody is called by another one meanwhile', async () => {
  let skewMs = 0;
  const late: (() => Promise<unknown>)[] = [];
  const between = (service: CallService): CallService => ({
    ...service,
    async place(request, sent) {
      if (late.length > 0) return service.place(request, sent);
      late.push(() => service.place(request, { ...sent, mayBegin: () => true }));
      return { kind: 'unknown', status: null, requestId: null, serviceMs: null, fault: 'no answer' };
    },
  });
  const campaign = await beginReported({ api: 'batch-calling', between, skewMs: () => skewMs });
  const proof = { api: 'batch-calling', provenAt: noon, listLagMs: 0, order: 'newest_first', keyBehaviour: null } as const;
  await storeLookUpProof(campaign.store, campaign.account.accountId, proof);
  await campaign.run(minuteMs);
  skewMs = hourMs;
  await campaign.run(5 * minuteMs);
  skewMs = 0;
  await campaign.run(5 * minuteMs);
  await late[0]?.();
  await campaign.run(2 * hourMs, campaign.isDone);
  expect(timesOf(campaign.rang())).toEqual(once(6));
  expect((await campaign.rows()).map(({ outcome }) => outcome)).toEqual(campaign.numbers.map(() => 'completed'));
  expect(await campaign.proof()).toEqual([]);
});
