import { expect, onTestFinished, test } from 'vitest';
import { createActivities } from '../../activities/index.ts';
import { sweepAgent } from '../../activities/sweep.ts';
import { importCampaign } from '../../src/ledger/campaign/import-campaign.ts';
import { openRound } from '../../src/ledger/campaign/rounds.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { openTestStore } from '../ledger/test-stores.ts';
import { plainNumbers } from '../sandbox/harness.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import { buildRows, buildRules } from '../support/campaign-rules.ts';
import { secondService, startSecondService } from './second-service.ts';

test('the activities of a campaign call each person once over a second service, also where an answer is lost', async () => {
  const second = await startSecondService();
  const service = secondService(second.url);
  onTestFinished(() => service.close());
  const store = await openTestStore('sqlite');
  const [campaignId, now] = ['second', Date.now];
  const deps = buildDependencies({ store, service, now, accountId: second.url });
  const { checkCallers, plan, submit } = createActivities(deps);
  const numbers = plainNumbers(6);
  const rules = buildRules({
    agentId: 'second_agent',
    callers: { numbers: ['line_1'], choice: 'region' },
    pacing: { batchSize: 3, refillThreshold: 1 },
  });
  const input = { campaignId, name: null, fileHash: 'hash', rules, accountId: second.url };
  const rows = buildRows(numbers, (index) => `Guest ${index}`);
  await importCampaign(store, input, {
    chunks: (async function* () {
      yield rows;
    })(),
    now: now(),
  });
  await openRound(store, campaignId, now());

  expect(await checkCallers({ campaignId })).toEqual({ ok: true });
  const verdicts: string[] = [];
  for (const fault of [null, 'lost after'] as const) {
    const planned = await plan({ campaignId, round: 1, batchNumber: verdicts.length + 1 });
    if (planned.kind !== 'batch') throw new Error(planned.kind);
    if (fault !== null) second.faults.push(fault);
    const said = await submit({ batchId: planned.batchId });
    verdicts.push(said.kind === 'verdict' ? said.state : said.kind);
  }
  expect(verdicts).toEqual(['confirmed', 'unknown']);
  second.play();
  expect([...second.dialled].sort()).toEqual([...numbers].sort());
  const { agentId, timing } = rules;
  const sweep = await sweepAgent(deps, await deps.serviceClock(), { agentId, timing, onProgress: () => {} });
  expect(sweep.kind).toBe('complete');

  const people = await store.db.selectFrom('recipients').select(['e164', 'outcome']).execute();
  expect(people.map(({ outcome }) => outcome)).toEqual(numbers.map(() => 'completed'));
  const states = await store.db.selectFrom('batches').select(['state', 'accepted_by']).orderBy('n').execute();
  expect(states).toEqual([
    { state: 'confirmed', accepted_by: 'reply' },
    { state: 'confirmed', accepted_by: 'evidence' },
  ]);
  const proof = await verifyLog(store.db, null);
  expect(proof.rules.flatMap(({ violations }) => violations)).toEqual([]);
});
