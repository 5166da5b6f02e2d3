import { expect, test } from 'vitest';
import type { Campaign } from '../../src/ledger/rows/campaigns.ts';
import { readingOf, type WorkflowLook } from '../../src/presentation/words/why.ts';
import { realClock } from '../../src/service/port/service-clock.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginCampaign, noon } from '../ledger/scenario.ts';

const failing = { activity: 'submit', tries: 3, message: 'The service could not be reached', nextAt: noon + 5_000 };

function causeOf(campaign: Campaign, look: Partial<WorkflowLook>): string | undefined {
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
