import { expect, test } from 'vitest';
import type { NewEvent } from '../../src/domain/events.ts';
import { campaignTransitions, type CampaignState } from '../../src/domain/lifecycle.ts';
import { readWebhookEvent, webhookEventTypes, webhookMessageId } from '../../src/domain/webhooks/messages.ts';

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
  [
    { ...base, type: 'recipient.corrected', data: { outcome: null, numberChanged: false, hash: 'x', cells: 'x' } },
    null,
  ],
  [{ ...base, type: 'attempt.settled', data: { disposition: 'answered', detail: null, counted: true } }, null],
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
  const told = new Set<string>(['row.ended', 'row.reopened']);
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
