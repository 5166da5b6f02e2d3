import { expect, test } from 'vitest';
import { PassThrough } from 'node:stream';
import { watchCampaign, type Snapshot, createCampaignView } from '../../../../src/interfaces/cli/access/watch-campaign.ts';
import { readConfig } from '../../../../src/shared/config.ts';
import { pausedByOperator } from '../../../../src/rules/lifecycle.ts';
import { changeCampaignState, type Campaign } from '../../../../src/ledger/rows/campaigns.ts';
import { openCleanStore } from '../../../ledger/clean-store.ts';
import { beginProven, noon } from '../../../ledger/scenario.ts';

const config = readConfig({ SVC_BASE_URL: 'http://127.0.0.1:1' });
const late = noon + 3_600_000;

test.each([
  { alone: true, reason: 'Three batches in a row.', resumeAt: null, stays: false },
  { alone: true, reason: 'Many calls failed.', resumeAt: late, stays: true },
  { alone: true, reason: pausedByOperator, resumeAt: null, stays: true },
  { alone: false, reason: 'Three batches in a row.', resumeAt: null, stays: true },
])('whoever watches a paused campaign waits for its end as long as it may come: %o', async (each) => {
  const { alone, reason, resumeAt, stays } = each;
  const { store, campaignId } = await beginProven(await openCleanStore('sqlite'));
  await store.transaction((tx) => changeCampaignState(tx, { campaignId, now: noon }, { to: 'paused', reason, resumeAt, wished: true }));
  const leaving = new AbortController();
  let shown = 0;
  const show = (): void => {
    shown += 1;
    if (shown === 2) leaving.abort();
  };
  const { campaign } = await watchCampaign({
    config, store, campaignId, session: null, fromSeq: 0, view: { show }, leave: leaving.signal, alone,
  }); // prettier-ignore
  expect(campaign.state).toBe('paused');
  expect(shown > 1).toBe(stays);
});

function snapshot(done: number, more: Partial<Snapshot> = {}, state: Campaign['state'] = 'running'): Snapshot {
  return {
    campaign: { campaignId: 'autumn', name: 'Autumn', state, stateReason: 'the key is refused' } as Campaign,
    status: {
      total: 40,
      done,
      open: 5,
      planned: 0,
      waiting: 35 - done,
      nextDueAt: null,
      outcomes: { completed: done },
      results: {},
      dispositions: { answered: done, busy: 2 },
      unresolved: 0,
      batches: {},
    },
    startsPerMinute: 12,
    leftMs: 95_000,
    events: [],
    ...more,
  };
}

function paint(isTerminal: boolean, columns = 80) {
  let now = 0;
  let text = '';
  const out = Object.assign(new PassThrough(), { columns });
  out.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const view = createCampaignView({ isTerminal, colour: false, now: () => now }, out, 'Ctrl-C leaves.');
  return {
    view,
    pass: (ms: number) => {
      now += ms;
    },
    take: () => {
      const taken = text;
      text = '';
      return taken;
    },
  };
}

test('without a terminal a line comes every five seconds, events and new obstacles at once', () => {
  const { view, pass, take } = paint(false);
  view.show(snapshot(1), []);
  expect(take()).toBe('1 of 40 done, 5 calls open, 12 starts a minute, about 2 min left\n');
  pass(500);
  view.show(snapshot(2), ['No worker.']);
  view.show(snapshot(2), ['No worker.']);
  expect(take()).toBe('No worker.\n');
  const begun = { seq: 1, at: 0, campaignId: 'autumn', type: 'round.started' as const, data: { round: 1 } };
  view.show(snapshot(2, { events: [begun] }), []);
  expect(take()).toMatch(/^ {2}\d\d:\d\d:\d\d {2}round 1 begins\n$/);
  pass(5_000);
  view.show(snapshot(3), []);
  expect(take()).toMatch(/^3 of 40 done/);
  pass(5_000);
  view.show(snapshot(3), []);
  expect(take()).toBe('');
});

test('a terminal is repainted in place, no line wider than it', () => {
  const { view, take } = paint(true, 40);
  view.show(snapshot(10), []);
  const first = take();
  expect(first).toContain('autumn (Autumn)  running\n');
  expect(first).toContain('25 %');
  const lines = first.replace('\u001b[J', '').trimEnd().split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(40);
  view.show(snapshot(11), []);
  expect(take()).toMatch(new RegExp(`^\\u001b\\[${lines.length}A\\u001b\\[J`));
});

test('a pause is shown with its reason and what to do', () => {
  const { view, take } = paint(true, 200);
  view.show(snapshot(10, {}, 'paused'), []);
  expect(take()).toMatch(/PAUSED.*Paused: the key is refused\n.*carillon resume autumn/s);
});
