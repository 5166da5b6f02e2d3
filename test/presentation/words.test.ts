import { expect, test } from 'vitest';
import type { Campaign } from '../../src/ledger/rows/campaigns.ts';
import { readingOf, type WorkflowStatus } from '../../src/presentation/words/why.ts';
import { recurrenceText } from '../../src/presentation/words/recurrence.ts';
import { realClock } from '../../src/service/port/service-clock.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginCampaign, noon } from '../ledger/scenario.ts';

const failing = { activity: 'submit', tries: 3, message: 'The service could not be reached', nextAt: noon + 5_000 };

function causeOf(campaign: Campaign, look: Partial<WorkflowStatus>): string | undefined {
  const seen = { unreachable: null, workers: 1, runs: true, failing: null, service: null, ...look };
  return readingOf({ campaign, undecided: 0, idle: null, movedAt: noon, look: seen }, { clock: realClock(() => noon), now: noon })?.cause;
}

test('a step that fails while the service is away is not the cause', async () => {
  const campaign = await (await beginCampaign(await openCleanStore('sqlite'))).campaign();
  expect(causeOf(campaign, { failing })).toBe('step_fails');
  expect(causeOf(campaign, { failing, service: 'The service could not be reached.' })).toBe('service');
  expect(causeOf(campaign, { service: 'The service could not be reached.' })).toBe('service');
  expect(causeOf(campaign, { failing: { ...failing, activity: 'collect' } })).toBeUndefined();
});

test.each([
  ['0 9 * * mon-fri', 'Weekdays at 9:00'],
  ['30 8 * * *', 'Every day at 8:30'],
  ['5 13 * * 1', 'Mondays at 13:05'],
  ['0 7 * * sat,sun', 'Saturdays, Sundays at 7:00'],
  ['every 1d', 'Every day'],
  ['every 90m', 'Every 90m'],
  // What has no short words stays as it was written.
  ['0 9 1 1 *', '0 9 1 1 *'],
  ['*/5 9 * * *', '*/5 9 * * *'],
  ['0 9 * * mon-wed', '0 9 * * mon-wed'],
])('%s is told as %s', (when, text) => {
  expect(recurrenceText(when)).toBe(text);
});
