import { expect, test } from 'vitest';
import { createActivities } from '../../activities/index.ts';
import { resumeCampaign } from '../../src/ledger/rows/campaigns.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import { hourMs, minuteMs } from '../support/campaign-rules.ts';
import { beginReported, once, timesOf, type ReportedWorld } from './reported-campaign.ts';

async function begin(world: ReportedWorld) {
  const campaign = await beginReported(world);
  const { store, sandbox, service, account } = campaign;
  const now = () => sandbox.clock.now();
  const deps = buildDependencies({ store, service, now, ...account });
  return {
    ...campaign,
    /** What a worker does before the first call, and after a resume. */
    check: () => createActivities(deps).checkCallers({ campaignId: 'spring' }),
    standing: () => store.db.selectFrom('campaigns').select(['state', 'state_reason as reason']).executeTakeFirstOrThrow(),
    resume: () => resumeCampaign(store, { campaignId: 'spring', now: now() }),
    outcomes: async () => (await campaign.rows()).map(({ outcome }) => outcome),
  };
}

const apis = ['batch-calling', 'campaigns'] as const;
const nobody = (people: number) => Array.from({ length: people }, () => 0);
const completed = (people: number) => Array.from({ length: people }, () => 'completed');
const forbidden = { type: 'error', status: 403 } as const;

test.each(apis)('a key that may not place calls pauses the campaign, which says what to do, and loses nobody: %s', async (api) => {
  const campaign = await begin({ api });
  campaign.sandbox.addFaults({ operation: 'batch_calls', times: 1, effect: forbidden });
  await campaign.run(5 * minuteMs);
  expect(await campaign.standing()).toEqual({
    state: 'paused',
    reason: expect.stringMatching(/\(403\): check what the key may do, .* Fix it, then resume\.$/) as string,
  });
  expect(timesOf(campaign.rang())).toEqual(nobody(6));
  await campaign.resume();
  await campaign.run(hourMs, campaign.isDone);
  expect([timesOf(campaign.rang()), await campaign.outcomes()]).toEqual([once(6), completed(6)]);
  expect(await campaign.proof()).toEqual([]);
});

test.each([
  { api: 'batch-calling', operation: 'get_batch' },
  { api: 'campaigns', operation: 'list_campaign_calls' },
] as const)('a key that may not read reports: nobody is called twice, and what happened meanwhile is told later: %o', async (read) => {
  const campaign = await begin({ api: read.api });
  campaign.sandbox.addFaults({ operation: read.operation, times: 60, effect: forbidden });
  await campaign.run(12 * minuteMs);
  expect(campaign.sandbox.journal().filter(({ status }) => status === 403).length).toBeGreaterThan(3);
  await campaign.run(4 * hourMs, campaign.isDone);
  expect([timesOf(campaign.rang()), await campaign.outcomes()]).toEqual([once(6), completed(6)]);
  expect(await campaign.proof()).toEqual([]);
});

test.each(apis)('an agent that does not permit what calls would change is found before the first call, and told: %s', async (api) => {
  const campaign = await begin({ api, sandbox: { dialect: 'published' }, rules: { agentId: 'agent_survey' } });
  expect(await campaign.check()).toMatchObject({ ok: false });
  const { state, reason } = await campaign.standing();
  expect([state, reason]).toEqual(['paused', expect.stringMatching(/^Agent agent_survey does not let a call change agent\.first_message/)]);
  await campaign.run(hourMs);
  expect(timesOf(campaign.rang())).toEqual(nobody(6));
});

test.each(apis)(
  'an agent that stops permitting it under way ends the calls in failure: the breaker pauses, nobody rings twice: %s',
  async (api) => {
    const breaker = { failureShare: 0.5, windowMs: 30 * minuteMs, minCalls: 20, coolDownMs: null };
    const rules = { agentId: 'agent_survey', breaker };
    const campaign = await begin({ api, people: 30, sandbox: { dialect: 'published' }, rules });
    await campaign.run(2 * hourMs);
    expect(await campaign.standing()).toEqual({
      state: 'paused',
      reason: expect.stringMatching(/^20 of the 20 calls that ended in the last 30 min failed .* Find the cause, then resume\.$/) as string,
    });
    expect(Math.max(...timesOf(campaign.rang()))).toBe(1);
    expect((await campaign.rows()).filter(({ state }) => state === 'waiting')).toHaveLength(30);
  },
);

test.each(apis)('a number of another account is found before anybody is called, and told: %s', async (api) => {
  const campaign = await begin({ api, rules: { callers: { numbers: ['pn_elsewhere'], choice: 'region' } } });
  await campaign.check();
  await campaign.run(10 * minuteMs);
  const { state, reason } = await campaign.standing();
  expect([state, reason]).toEqual(['paused', expect.stringMatching(/^The service has no phone number pn_elsewhere: import the number/)]);
  expect(timesOf(campaign.rang())).toEqual(nobody(6));
  expect(campaign.sandbox.journal().filter(({ operation }) => operation === 'batch_calls')).toEqual([]);
});

test.each(apis)(
  'a request with more recipients than the service allows is sent again in halves, and everybody is called once: %s',
  async (api) => {
    const campaign = await begin({ api, people: 11, sandbox: { maxCallsPerBatch: 4 } });
    // Each refusal is doubted for a minute, in case the service carried out the request.
    await campaign.run(25 * minuteMs, campaign.isDone);
    expect([timesOf(campaign.rang()), await campaign.outcomes()]).toEqual([once(11), completed(11)]);
    const refused = campaign.store.db.selectFrom('posts').select(['status', 'message']).where('verdict', '=', 'refused');
    expect(await refused.execute()).toEqual([11, 6, 5].map(() => ({ status: 422, message: expect.stringMatching(/at most 4/) as string })));
    expect(await campaign.proof()).toEqual([]);
  },
);
