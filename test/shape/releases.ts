import { setTimeout as pause } from 'node:timers/promises';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { until } from '../support/until.ts';
import { campaignId, type World } from './world.ts';

const restarts = 6;
const everyMs = 3_000;

/** Every second one with SIGKILL, as by an impatient platform. */
export async function restartRolling(world: World): Promise<void> {
  for (let nth = 0; nth < restarts; nth += 1) {
    const place = nth % world.workers.length;
    const leaving = world.workers[place];
    if (nth % 2 === 1) await leaving?.kill();
    else void leaving?.terminate();
    await world.replaceWorker(place);
    await pause(everyMs);
  }
}

/** Failed workflow steps before the release is rolled back. */
const failuresOfProof = 2;

/** Replaces all workers by a build that does not fit the history, and rolls back after failed steps. Returns the failures. */
export async function rollOutAndBack(world: World): Promise<number> {
  await replaceAll(world, 'wrong');
  const failures = await until('the wrong release has failed', async () => {
    const { raw } = await world.client.workflow.getHandle(campaignWorkflowId(campaignId, 1)).describe();
    const attempt = raw.pendingWorkflowTask?.attempt ?? 1;
    return attempt > failuresOfProof && attempt;
  });
  await replaceAll(world);
  return failures;
}

/** One after the other, each when the next one is ready. */
async function replaceAll(world: World, release?: 'wrong'): Promise<void> {
  for (const [place, leaving] of [...world.workers].entries()) {
    const next = await world.replaceWorker(place, release);
    await until('the next release is ready', () => next.output().includes('is ready'));
    void leaving.terminate();
  }
}
