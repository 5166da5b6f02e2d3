import { expect, test } from 'vitest';
import { readEvents } from '../../src/ledger/events.ts';
import { planOf } from './draw-weave.ts';
import { campaignId } from './import-small.ts';
import { scenarios, type Scenario } from './scenarios.ts';
import { SmallCampaign } from './small-campaign.ts';
import { openPlace } from './weaves-suite.ts';

test.for([3_600_000, -3_600_000])(
  'a clock that is set by %i ms within a sweep is noted, and the campaign goes on',
  async (clockByMs) => {
    const place = await openPlace('sqlite', 'clock');
    const scenario = scenarios.find(({ name }) => name === 'request lost') as Scenario;
    const { effects } = await new SmallCampaign(place, scenario).run();
    const { step, nth } =
      effects.find(({ operation, what }) => operation === 'collect' && what === 'GET the list') ?? {};
    if (step === undefined || nth === undefined) throw new Error('nothing is collected');
    const { ledger, faults } = await new SmallCampaign(place, scenario, planOf([{ step, nth, clockByMs }])).run();
    const [{ db }] = place.stores;
    const events = await readEvents(db, campaignId, { afterSeq: 0, limit: 1000, types: ['clock.stepped'] });
    expect(events.map(({ data }) => data)).toMatchObject([
      { clock: 'machine', byMs: clockByMs },
      { clock: 'machine', byMs: -clockByMs },
    ]);
    expect(faults).toEqual([]);
    expect(ledger.recipients.map(({ state }) => state)).toEqual(['done', 'done']);
  },
);
