import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { cancelUpdate, resumeUpdate } from '../../workflows/messages.ts';
import { findCampaign } from '../../src/ledger/rows/campaigns.ts';
import { openSqliteFile } from '../../src/ledger/sqlite-file.ts';
import { withRun, type CampaignRun } from '../support/campaign-run.ts';
import { someOf } from '../support/depth.ts';
import { judgeRun } from '../support/judge-run.ts';
import { untilActivityRuns } from '../support/kill-gaps.ts';
import { plantList } from '../support/planted-list.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { patienceMs, until } from '../support/until.ts';
import { createWorld, numberAt } from '../interfaces/cli/campaign-world.ts';

const temporal = useSharedTemporal();
const execute = promisify(execFile);

async function untilPaused(run: CampaignRun): Promise<string> {
  return until(`${run.id} is paused`, async () => {
    const campaign = await findCampaign(run.store.db, run.id);
    return campaign?.state === 'paused' ? (campaign.stateReason ?? '') : undefined;
  });
}

const handleOf = ({ client, id }: CampaignRun) => client.workflow.getHandle(campaignWorkflowId(id, 1));

/** The way to the service is closed for ten minutes of it. `meanwhile`: what happens once it is. */
async function closeWay({ toService, sandbox }: CampaignRun, meanwhile: () => unknown): Promise<void> {
  await toService.refuse();
  await meanwhile();
  const end = sandbox.clock.now() + 10 * 60_000;
  await until('service time has passed', () => sandbox.clock.now() >= end);
  await toService.accept();
}

/** The largest file that a running process may write; a write beyond it fails, as on a full disk. Linux alone lets others set it. */
async function limitFiles(pid: number, bytes: number | 'unlimited'): Promise<void> {
  await execute('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
}

test.concurrent.for(
  someOf([
    { dialect: 'extended', seed: 802 },
    { dialect: 'spec', seed: 803 },
  ] as const),
)(
  'one campaign outlives a wrong key, a service that is away, a revoked key, a locked database and a full disk ($dialect)',
  async (given) => {
    const { dialect, seed } = given;
    const canLimit = await execute('prlimit', ['--version']).then(
      () => true,
      () => false,
    );
    await withRun({ id: `bad-${seed}`, seed, temporal, sandbox: { dialect }, recipients: 48 }, async (run) => {
      const { gates } = run.sandbox;
      const met = async (gate: string) => {
        const info = await gates.waitUntilReached(gate, patienceMs);
        if (info === null) throw new Error(`no batch came\n${await run.describe()}`);
        return info.requestId ?? '';
      };
      const wrong = run.startWorker({ SVC_API_KEY: 'sk_planted_wrong' });
      await run.start();
      expect(await untilPaused(run)).toContain('refuses the API key (401): set SVC_API_KEY');
      expect(run.sandbox.calls()).toEqual([]);
      await wrong.terminate();
      expect(wrong.output()).not.toContain('sk_planted_wrong');

      // Away before its first request, and again while it answers one.
      await closeWay(run, async () => {
        const worker = run.startWorker();
        expect(await handleOf(run).executeUpdate(resumeUpdate)).toBe(true);
        await until('the worker has tried', () => worker.output().includes('ServiceUnavailable'));
      });
      const second = gates.set('batch_work_done', 2);
      const lost = await met(second);
      await closeWay(run, () => gates.release(second));

      run.sandbox.addFaults({ operation: 'batch_calls', nth: 1, effect: { type: 'error', status: 401 } });
      expect(await untilPaused(run)).toContain('refuses the API key (401)');
      const next = gates.set('batch_work_done');
      expect(await handleOf(run).executeUpdate(resumeUpdate)).toBe(true);

      // What the service answers cannot be written before the lock is gone.
      await met(next);
      const lock = openSqliteFile(run.sqlitePath);
      lock.prepare('begin immediate').run([]);
      gates.release(next);
      const end = Date.now() + 3_000;
      await until('three seconds have passed', () => Date.now() >= end);
      const last = gates.set('batch_work_done');
      lock.prepare('rollback').run([]);
      lock.close();

      await met(last);
      const worker = run.workers.at(-1);
      if (canLimit && worker !== undefined) {
        await limitFiles(worker.pid, 1);
        gates.release(last);
        await until('the worker cannot write', () => /SQLITE_(FULL|IOERR)/.test(worker.output()));
        expect(worker.hasEnded()).toBe(false);
        await limitFiles(worker.pid, 'unlimited');
      }
      gates.release();
      const calls = run.sandbox.calls().length;
      await run.untilEnd();
      expect(run.sandbox.calls().length).toBeGreaterThan(calls);
      const unknown = await run.store.db.selectFrom('posts').selectAll().where('verdict', '=', 'unknown').execute();
      const lostReplies = unknown.map((post) => `${post.batch_id}/${post.k}`);
      expect(lostReplies).toContain(lost);
      const ledger = await judgeRun(run, {
        dialect,
        lostReplies,
        destroyed: dialect === 'spec' ? unknown.map((post) => post.batch_id) : [],
      });
      expect(ledger.batches.filter((row) => row.state === 'refused')).toHaveLength(1);
    });
  },
);

test.concurrent('an unverified number of which nothing is told costs one batch of calls, then the campaign pauses', async () => {
  const options = {
    id: 'canary',
    seed: 807,
    temporal,
    recipients: 30,
    batchSize: 20,
    sandbox: { dialect: 'spec' as const, unansweredCreateRecord: false },
    rules: { callers: { numbers: ['pn_unverified'], choice: 'region' } } as const,
  };
  await withRun(options, async (run) => {
    run.startWorker();
    await run.start();
    expect(await untilPaused(run)).toContain('that the caller number is verified');
    expect(run.sandbox.calls()).toHaveLength(20);
    await handleOf(run).executeUpdate(cancelUpdate);
    await run.untilEnd();
    await judgeRun(run, { dialect: 'spec' });
    expect(run.sandbox.calls()).toHaveLength(20);
  });
});

/** More than the activities of one kind that a worker runs at once unless it is told otherwise. */
const campaigns = 120;

test.concurrent(`of ${campaigns} campaigns on one worker each is collected for at the same time: none waits for another`, async () => {
  // So slow that nothing ends while this looks on.
  const slow = { sandbox: { speed: 0.1 }, settings: { CARILLON_COLLECT_MAX_MS: '300000' } };
  await withRun({ id: 'many-0', seed: 1201, temporal, recipients: 1, ...slow }, async (run) => {
    run.startWorker();
    await run.start();
    const { rows } = plantList(1202, campaigns - 1);
    for (const [index, row] of rows.entries()) await run.startAnother(`many-${index + 1}`, { ...run.list, rows: [{ ...row, row: 1 }] });
    const ids = Array.from({ length: campaigns }, (_, index) => campaignWorkflowId(`many-${index}`, 1));
    for (const workflowId of ids) await untilActivityRuns(run, workflowId, 'collect');
    // A campaign is collected for while its first batch is on its way.
    await until('every campaign has its call', () => run.sandbox.calls().length === campaigns);
  });
});

test('a start that may write files of 1400 blocks only says that the disk is full', async () => {
  const world = await createWorld();
  const lines = Array.from({ length: 6_000 }, (_, index) => `${numberAt(index % 350)},Row${index}`);
  world.writeCampaign({ lines });
  const main = fileURLToPath(new URL('../../dist/src/interfaces/cli/main.js', import.meta.url));
  const failed = execute('sh', ['-c', 'ulimit -f 1400 && exec "$@"', 'start', process.execPath, main, 'start', world.campaignPath], {
    env: { PATH: process.env['PATH'], ...world.env },
  });
  await expect(failed).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The database cannot be used: (SQLite file \S+: )?the disk is full.*Make room and run/),
  });
});
