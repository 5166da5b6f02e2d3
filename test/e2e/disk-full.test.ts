import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createWorld, numberAt } from '../interfaces/cli/campaign-world.ts';
import { patient, withRun } from '../support/campaign-run.ts';
import { judgeRun } from '../support/judge-run.ts';
import { useSharedTemporal } from '../support/temporal-for-tests.ts';
import { patienceMs, until } from '../support/until.ts';

const run = promisify(execFile);
const temporal = useSharedTemporal();

/** The largest file that a running process may write; a write beyond it fails, as on a full disk. Linux alone lets others set it. */
async function limitFiles(pid: number, bytes: number | 'unlimited'): Promise<void> {
  await run('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
}

test('a campaign whose disk is full goes on when there is room again, and its log says what was wrong', async ({ skip }) => {
  await run('prlimit', ['--version']).catch(() => skip('prlimit is not here'));
  await withRun({ id: 'full', seed: 641, temporal, settings: patient }, async (campaign) => {
    const gate = campaign.sandbox.gates.set('batch_work_done', 2);
    const worker = campaign.startWorker();
    await campaign.start();
    expect(await campaign.sandbox.gates.waitUntilReached(gate, patienceMs)).not.toBeNull();
    await limitFiles(worker.pid, 1);
    campaign.sandbox.gates.release(gate);
    await until('the worker cannot write', () => /SQLITE_(FULL|IOERR)/.test(worker.output()));
    const calls = campaign.sandbox.calls().length;
    expect(worker.hasEnded()).toBe(false);
    await limitFiles(worker.pid, 'unlimited');
    await campaign.untilEnd();
    expect(campaign.sandbox.calls().length).toBeGreaterThan(calls);
    const lost = await campaign.store.db.selectFrom('posts').selectAll().where('verdict', '=', 'unknown').execute();
    await judgeRun(campaign, { lostReplies: lost.map((post) => `${post.batch_id}/${post.k}`) });
  });
});

test.each([128, 1400])('a start that may write files of %i blocks only says that the disk is full', async (blocks) => {
  const world = await createWorld();
  const lines = Array.from({ length: 6_000 }, (_, index) => `${numberAt(index % 350)},Row${index}`);
  world.writeCampaign({ lines });
  const main = fileURLToPath(new URL('../../dist/src/interfaces/cli/main.js', import.meta.url));
  const limited = `ulimit -f ${blocks} && exec "$@"`;
  const failed = run('sh', ['-c', limited, 'start', process.execPath, main, 'start', world.campaignPath], {
    env: { PATH: process.env['PATH'], ...world.env },
  });
  await expect(failed).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The database cannot be used: (SQLite file \S+: )?the disk is full.*Make room and run/),
  });
});
