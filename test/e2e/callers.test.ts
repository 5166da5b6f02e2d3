import { fetch } from 'undici';
import { expect, test } from 'vitest';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { resumeUpdate } from '../../workflows/messages.ts';
import { readCallerUse } from '../../src/ledger/limits/callers.ts';
import { findCampaign, type Campaign } from '../../src/ledger/rows/campaigns.ts';
import { withRun, type CampaignRun } from '../support/campaign-run.ts';
import { judgeRun } from '../support/judge-run.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { patienceMs, until } from '../support/until.ts';

const temporal = useSharedTemporal();

async function campaignOf(run: CampaignRun): Promise<Campaign> {
  const campaign = await findCampaign(run.store.db, run.id);
  if (campaign === undefined) throw new Error('the campaign has gone');
  return campaign;
}

async function usesOf(run: CampaignRun) {
  return readCallerUse(run.store.db, await campaignOf(run));
}

test('of three numbers two may call: they share the list, also when the worker is killed on the way', async () => {
  const callers = { numbers: ['pn_main', 'pn_second', 'pn_unverified'], choice: 'rotation' } as const;
  await withRun({ id: 'callers', seed: 951, temporal, batchSize: 5, rules: { callers } }, async (run) => {
    const worker = run.startWorker();
    await run.start();
    const gate = run.sandbox.gates.set('batch_work_done', 3);
    const info = await run.sandbox.gates.waitUntilReached(gate, patienceMs);
    await worker.kill();
    run.sandbox.gates.release(gate);
    run.startWorker();
    await run.untilEnd();
    await judgeRun(run, { lostReplies: [info?.requestId ?? 'nothing came'] });
    const [first, second, third] = await usesOf(run);
    expect(third).toMatchObject({ out: 'not_verified', calls: 0 });
    expect((first?.calls ?? 0) + (second?.calls ?? 0)).toBe(run.sandbox.calls().length);
    const given = await run.store.db.selectFrom('callers').select('given').orderBy('position').execute();
    expect(given).toEqual([{ given: 12 }, { given: 12 }, { given: 0 }]);
  });
});

test('no number may call: nothing is dialled until a person has mended one and resumed', async () => {
  const callers = { numbers: ['pn_unverified', 'pn_nowhere'], choice: 'region' } as const;
  await withRun({ id: 'no-caller', seed: 952, temporal, recipients: 6, rules: { callers } }, async (run) => {
    run.startWorker();
    await run.start();
    await until('the campaign pauses', async () => (await campaignOf(run)).state === 'paused');
    expect((await campaignOf(run)).stateReason).toMatch(
      /^None of the 2 caller numbers may call \(pn_unverified is not verified, pn_nowhere is not known to the service\)/,
    );
    const handle = run.client.workflow.getHandle(campaignWorkflowId(run.id, 1));
    await handle.executeUpdate(resumeUpdate);
    await until('it pauses again', async () => (await campaignOf(run)).state === 'paused');
    expect(run.sandbox.calls()).toEqual([]);

    await fetch(`${run.sandbox.url}/_sandbox/numbers/pn_unverified/verify`, { method: 'POST' });
    await handle.executeUpdate(resumeUpdate);
    await run.untilEnd();
    await judgeRun(run);
    expect((await usesOf(run)).map(({ out }) => out)).toEqual([null, 'unknown']);
  });
});
