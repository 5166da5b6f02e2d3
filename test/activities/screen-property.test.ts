import { expect, test } from 'vitest';
import { Random } from '../../src/sandbox/core/random.ts';
import { sendJson, type HookAnswer } from '../shared/hooks/hook-server.ts';
import { minuteMs } from '../support/campaign-rules.ts';
import { beginScreened, type ScreenRun } from './screen-run.ts';
import { campaignId } from './steps.ts';
import type { Store } from '../../src/ledger/tx.ts';

const freshMs = 15 * minuteMs;
const mostSteps = 250;

/** The hook's last answer per number and its time, written by the hook itself. */
class Register {
  readonly #said = new Map<string, { askedAt: number; eligible: boolean }>();

  note(phone: string, askedAt: number, eligible: boolean): void {
    this.#said.set(phone, { askedAt, eligible });
  }

  forbidden(numbers: readonly string[], at: number): string[] {
    return numbers.filter((number) => {
      const said = this.#said.get(number);
      return said === undefined || !said.eligible || at - said.askedAt > freshMs;
    });
  }
}

/** Right, wrong, late, broken or silent, by the seed. Registers each verdict before it answers. */
function moody(run: ScreenRun, random: Random, register: Register): HookAnswer {
  return (response, { body }) => {
    const askedAt = run.clock.now();
    const people = body.recipients ?? [];
    const mood = random.next();
    if (mood < 0.06) return sendJson(response, { recipients: people.map(({ ref }) => ({ ref, eligible: true })) }, 502);
    if (mood < 0.1) return void response.end('yes');
    if (mood < 0.14) return void response.socket?.destroy();
    if (mood < 0.18) return sendJson(response, { recipients: people.map(({ ref }) => ({ ref, eligible: 'true' })) });
    const said: [phone: string, eligible: boolean][] = [];
    const recipients = people.map(({ ref, phone }) => {
      const eligible = random.chance(0.75);
      said.push([phone, eligible]);
      if (eligible) return { ref, eligible };
      return random.chance(0.5) ? { ref, eligible, reason: 'no_consent' } : { ref, eligible, retry_after: '20m' };
    });
    if (random.chance(0.2)) run.clock.advance(random.between(1_000, 25 * minuteMs));
    // An answer that misses a number is invalid as a whole.
    if (random.chance(0.1)) recipients.pop();
    else for (const [phone, eligible] of said) register.note(phone, askedAt, eligible);
    sendJson(response, { recipients });
  };
}

/** The process stops between two steps: only the ledger remains. */
async function stepOnce(run: ScreenRun, random: Random, n: number): Promise<number | 'done'> {
  const planned = await run.steps.plan(n);
  if (planned.kind === 'done') return 'done';
  if (planned.kind === 'wait') {
    if (planned.reason === 'paused') await run.steps.activities.changeState({ campaignId, change: 'resume' });
    run.clock.advance(minuteMs * random.between(1, 6));
    await run.steps.sweep();
    return n;
  }
  const result = await run.submit(n);
  if ('waits' in result) {
    run.clock.advance(random.chance(0.2) ? random.between(1, 20) * minuteMs : random.between(1, 60_000));
    return n;
  }
  return n + 1;
}

async function outcomesOf(store: Store): Promise<Set<string>> {
  const rows = await store.db.selectFrom('recipients').select(['outcome']).execute();
  return new Set(rows.map(({ outcome }) => outcome ?? 'none'));
}

test.each(Array.from({ length: 8 }, (_, index) => `mood-${index + 1}`))(
  'whatever the hook does, nobody is called without its fresh yes, and all get an outcome (%s)',
  async (seed) => {
    const random = new Random(seed);
    const run = await beginScreened({
      seed,
      rows: 14,
      rules: { pacing: { batchSize: 4, maxConcurrentCalls: 8, refillThreshold: 1 } },
    });
    const register = new Register();
    run.hook.answerWith(moody(run, random, register));
    for (let nth = 2; nth < 20; nth += 3)
      run.sandbox.addFaults({
        operation: 14,
        nth,
        effect: { type: 'rate_limited', retryAfter: 'seconds', seconds: 240 },
      });
    let n: number | 'done' = 1;
    let judged = 0;
    for (let step = 0; step < mostSteps && n !== 'done'; step += 1) {
      n = await stepOnce(run, random, n);
      for (const { at, numbers } of run.posts.slice(judged)) expect(register.forbidden(numbers, at)).toEqual([]);
      judged = run.posts.length;
    }
    expect(n).toBe('done');
    expect(judged).toBeGreaterThan(0);
    expect(await outcomesOf(run.store)).not.toContain('none');
    expect(await run.steps.violations()).toEqual([]);
  },
);
