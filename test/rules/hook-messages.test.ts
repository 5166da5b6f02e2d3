import { expect, test } from 'vitest';
import {
  evaluateScreening,
  needsScreening,
  screenedForMs,
  shortestLaterMs,
  writeScreening,
  type ScreeningVerdict,
} from '../../src/rules/attempts/screening.ts';
import type { NewEvent } from '../../src/rules/events.ts';
import { campaignTransitions, type CampaignState } from '../../src/rules/lifecycle.ts';
import { readWebhookEvent, webhookEventTypes, webhookMessageId } from '../../src/rules/webhooks/messages.ts';

const minuteMs = 60_000;
const asked = 1_800_000_000_000;
const never = { screened: null, screenedAt: null };

function after(verdict: ScreeningVerdict) {
  return { screened: writeScreening(verdict, asked), screenedAt: asked };
}

test('whoever was never asked about is asked about, and not dialled', () => {
  expect(needsScreening(never, asked)).toBe(true);
  expect(evaluateScreening(never, asked)).toEqual({ kind: 'unasked' });
  // An answer without its time says nothing, not even a good one.
  const undated = { screened: 'eligible', screenedAt: null };
  expect(needsScreening(undated, asked)).toBe(true);
  expect(evaluateScreening(undated, asked)).toEqual({ kind: 'unasked' });
  const empty = { screened: null, screenedAt: asked };
  expect(needsScreening(empty, asked)).toBe(true);
  expect(evaluateScreening(empty, asked)).toEqual({ kind: 'unasked' });
});

test('an answer allows a call for a quarter of an hour, and is asked for anew five minutes before that', () => {
  const eligible = after({ kind: 'eligible' });
  expect(screenedForMs).toBe(15 * minuteMs);
  for (const age of [0, 15 * minuteMs]) expect(evaluateScreening(eligible, asked + age)).toEqual({ kind: 'dial' });
  expect(evaluateScreening(eligible, asked + 15 * minuteMs + 1)).toEqual({ kind: 'unasked' });
  expect(needsScreening(eligible, asked + 10 * minuteMs - 1)).toBe(false);
  expect(needsScreening(eligible, asked + 10 * minuteMs)).toBe(true);
});

test.each([
  [{ kind: 'refused', code: null }, 'pre_dial_refused'],
  [{ kind: 'refused', code: 'moved_away' }, 'pre_dial:moved_away'],
  // A code that looks like another answer is still a refusal.
  [{ kind: 'refused', code: 'eligible' }, 'pre_dial:eligible'],
  [{ kind: 'refused', code: 'later:5' }, 'pre_dial:later:5'],
] as const)('after %o nobody is dialled, for the reason %s', (verdict, reason) => {
  for (const age of [0, 60 * minuteMs]) expect(evaluateScreening(after(verdict), asked + age)).toEqual({ kind: 'refused', reason });
});

test.each([
  [5 * minuteMs, 5 * minuteMs],
  [shortestLaterMs, minuteMs],
  [0, minuteMs],
  [-1, minuteMs],
])('a "later" of %i ms is asked about again after %i ms', (afterMs, expected) => {
  const later = { kind: 'later', until: asked + expected };
  expect(evaluateScreening(after({ kind: 'later', afterMs }), asked)).toEqual(later);
});

const base = { at: 1, campaignId: 'spring', recipientId: 'spring/3' };
const state = (from: CampaignState, to: CampaignState): NewEvent => ({
  ...base,
  type: 'campaign.state',
  data: { from, to, reason: null },
});

test.each<[NewEvent, string | null]>([
  [{ ...base, type: 'recipient.outcome', data: { outcome: 'completed', reason: 'answered' } }, 'row.ended'],
  [{ ...base, type: 'recipient.outcome', data: { outcome: null, reason: null } }, 'row.reopened'],
  [{ ...base, type: 'recipient.retried', data: { outcome: 'exhausted', by: 'person' } }, 'row.reopened'],
  [{ ...base, type: 'recipient.retried', data: { outcome: null, by: 'person' } }, null],
  [
    {
      ...base,
      type: 'recipient.corrected',
      data: { outcome: 'undialable', numberChanged: true, hash: 'x', cells: 'x' },
    },
    'row.reopened',
  ],
  [{ ...base, type: 'recipient.corrected', data: { outcome: null, numberChanged: false, hash: 'x', cells: 'x' } }, null],
  [{ ...base, type: 'attempt.settled', data: { disposition: 'answered', detail: null, counted: true } }, null],
  [{ ...base, type: 'attempt.result', data: { result: 'confirmed' } }, 'row.result'],
  [state('draft', 'scheduled'), null],
  [state('draft', 'running'), 'campaign.started'],
  [state('scheduled', 'running'), 'campaign.started'],
  [state('running', 'paused'), 'campaign.paused'],
  [state('paused', 'running'), 'campaign.resumed'],
  [state('paused', 'scheduled'), 'campaign.resumed'],
  [state('running', 'draining'), null],
  [state('draining', 'completed'), 'campaign.completed'],
  [state('draining', 'cancelled'), 'campaign.cancelled'],
  [state('running', 'failed'), 'campaign.failed'],
  [state('completed', 'running'), 'campaign.started'],
])('of %j webhooks are told %s', (event, type) => {
  expect(readWebhookEvent(event)?.type ?? null).toBe(type);
});

test('every pause, every end and every type is told by some event', () => {
  const told = new Set<string>(['row.ended', 'row.reopened', 'row.result']);
  for (const [from, next] of Object.entries(campaignTransitions))
    for (const to of next) told.add(readWebhookEvent(state(from as CampaignState, to))?.type ?? '');
  told.delete('');
  expect([...told].toSorted()).toEqual(webhookEventTypes.toSorted());
});

test('the id of a message is that of its event and its webhook, and has no dot', () => {
  const event = { seq: 12, at: 1_894_708_800_000 };
  const id = webhookMessageId('00c0ffee0001', event);
  expect(webhookMessageId('00c0ffee0001', event)).toBe(id);
  expect(webhookMessageId('00c0ffee0002', event)).not.toBe(id);
  expect(webhookMessageId('00c0ffee0001', { ...event, seq: 13 })).not.toBe(id);
  // A database that was set back gives the number out again.
  expect(webhookMessageId('00c0ffee0001', { ...event, at: event.at + 1 })).not.toBe(id);
  expect(id).not.toContain('.');
});
