import { expect, test as once } from 'vitest';
import { readAggregates } from '../../src/ledger/aggregates.ts';
import { openRound } from '../../src/ledger/campaign/rounds.ts';
import { adjustAccount, adjustCampaign } from '../../src/ledger/limits/adjustments.ts';
import { noteCallers } from '../../src/ledger/limits/callers.ts';
import { EditRefusedError } from '../../src/ledger/people/edit-refusal.ts';
import type { UploadRow } from '../../src/ledger/people/edit-verdict.ts';
import { retryEnded } from '../../src/ledger/people/retry-ended.ts';
import { withdrawRecipients } from '../../src/ledger/people/withdraw-recipients.ts';
import { settleAttempts } from '../../src/ledger/rows/settle.ts';
import type { LegalHours } from '../../src/rules/campaign-rules.ts';
import type { AttemptResult, Disposition } from '../../src/rules/disposition.ts';
import { Random } from '../../src/sandbox/core/random.ts';
import { buildRules, hourMs, minuteMs, type RulesChanges } from '../support/campaign-rules.ts';
import { isFull, seedsFrom } from '../support/depth.ts';
import { notePlayed } from '../support/played.ts';
import { idRules, upload, uploadRow } from './edit-world.ts';
import { beginProven, noon, numbers, type Scenario, accountId } from './scenario.ts';
import { bothDialects } from './test-stores.ts';
import type { Store } from '../../src/ledger/tx.ts';
import { openLedger } from './ledger-test.ts';

const count = isFull ? { sqlite: 3, postgres: 2 } : { sqlite: 2, postgres: 1 };
const walks = bothDialects.flatMap((dialect) => seedsFrom(0, count[dialect]).map((seed) => [dialect, seed] as const));

once.for(walks)(
  'whatever happens to two campaigns on their way, each ends with every row accounted for: %s, seed %s',
  async ([dialect, seed]) => {
    const store = await openLedger(dialect);
    const walk = new Walk(store, String(seed));
    await walk.run();
    notePlayed({ campaigns: walk.walkers.length, calls: 0 });
    for (const { scenario } of walk.walkers) {
      const { campaignId } = scenario;
      const rows = await scenario.recipients();
      expect(rows.filter(({ state, outcome }) => state !== 'done' || outcome === null)).toEqual([]);
      expect(await scenario.campaign()).toMatchObject({ rowsTotal: rows.length, rowsRejected: 0 });
      const attempts = await scenario.attempts();
      const left = attempts.filter(({ state }) => state !== 'settled' && state !== 'released');
      expect(left).toEqual([]);
      const counted = new Map<string, number>();
      for (const { outcome } of rows) counted.set(`outcome ${outcome}`, (counted.get(`outcome ${outcome}`) ?? 0) + 1);
      for (const { disposition } of attempts)
        if (disposition !== null) counted.set(`disposition ${disposition}`, (counted.get(`disposition ${disposition}`) ?? 0) + 1);
      const kept = await readAggregates(store.db, campaignId, ['outcome', 'disposition']);
      const told = kept.filter(({ count: found }) => found !== 0);
      expect(new Map(told.map(({ kind, value, count: found }) => [`${kind} ${value}`, found]))).toEqual(counted);
    }
  },
);

const rowsPerCampaign = 14;
const disturbedSteps = 60;
const mostSteps = 1_500;
const ends: [Disposition, ...Disposition[]] = [
  'answered', 'voicemail', 'busy', 'no_answer', 'unreached', 'failed', 'invalid_number', 'opted_out',
]; // prettier-ignore

/** Some in both campaigns, some in one. */
const pool = numbers(24);

const lawOfTheirState: LegalHours = {
  id: 'us-ny-calls',
  country: 'US',
  region: 'NY',
  hours: null,
  closedOn: [],
  from: null,
  until: null,
  caps: [{ by: 'number', calls: 2, withinMs: 45 * minuteMs }],
  source: 'test',
};

interface Walker {
  scenario: Scenario;
  /** The batch planned or sent next. */
  n: number;
  /** Planned, without a verdict yet. */
  sending: boolean;
  closed: boolean;
}

function drawRules(random: Random): RulesChanges {
  const delays = buildRules().retry.delays;
  return {
    ...idRules,
    callers: { numbers: random.chance(0.5) ? ['pn_main', 'pn_second'] : ['pn_main'], choice: 'rotation' },
    caps: [
      { by: 'number', calls: 3, withinMs: hourMs },
      { by: 'person', calls: 2, withinMs: 20 * minuteMs },
    ],
    law: [lawOfTheirState],
    startsAt: random.chance(0.3) ? noon + 5 * minuteMs : null,
    endsAt: random.chance(0.4) ? noon + 3 * hourMs : null,
    retry: {
      maxAttempts: 3,
      maxAttemptsPerNumber: random.chance(0.5) ? 4 : null,
      resetAfterMs: random.chance(0.4) ? 40 * minuteMs : null,
      jitterMs: random.chance(0.5) ? 3 * minuteMs : 0,
      delays: { ...delays, voicemail: [7 * minuteMs], unknown: random.chance(0.3) ? [5 * minuteMs] : 'never' },
    },
    pacing: {
      maxConcurrentCalls: 5,
      batchSize: 3,
      refillThreshold: 2,
      startsPerMinute: random.chance(0.3) ? 4 : null,
      warmUpMs: random.chance(0.3) ? 10 * minuteMs : 0,
    },
    breaker: random.chance(0.5)
      ? { failureShare: 0.6, windowMs: 20 * minuteMs, minCalls: 4, coolDownMs: random.chance(0.5) ? 5 * minuteMs : null }
      : null,
    timing: { dispatchMarginMs: minuteMs, settleMs: 2 * minuteMs, lateDeliveryMs: minuteMs },
  };
}

function drawRow(random: Random, row: number, id: string): UploadRow {
  const e164 = pool[Math.floor(random.next() * pool.length)] ?? '';
  return {
    ...uploadRow(row, id, e164),
    notBefore: random.chance(0.2) ? noon + Math.round(random.between(0, 60)) * minuteMs : null,
    expiresAt: random.chance(0.3) ? noon + Math.round(random.between(5, 150)) * minuteMs : null,
  };
}

/** Two campaigns with people in common, and what persons, the service and time do to them, from a seed. */
export class Walk {
  readonly #random: Random;
  readonly #store: Store;
  readonly walkers: Walker[] = [];
  now = noon;

  constructor(store: Store, seed: string) {
    this.#store = store;
    this.#random = new Random('walk', seed);
  }

  /** Throws when a campaign never ends. */
  async run(): Promise<void> {
    for (const campaignId of ['spring', 'summer']) {
      const rows = Array.from({ length: rowsPerCampaign }, (_, index) => {
        const row = drawRow(this.#random, index + 1, `person${index}`);
        const e164 = pool[(index + (campaignId === 'spring' ? 0 : 9)) % pool.length] ?? '';
        return { ...row, e164, cells: [e164, `Guest ${index}`, row.externalId] };
      });
      const scenario = await beginProven(this.#store, { campaignId, rows, rules: drawRules(this.#random) });
      this.walkers.push({ scenario, n: 1, sending: false, closed: false });
    }
    const lines = this.#random.chance(0.4) ? Math.ceil(this.#random.between(0, 6)) : null;
    await adjustAccount(this.#store, accountId, { wish: { maxConcurrentCalls: lines }, now: this.now });
    for (let step = 0; this.walkers.some(({ closed }) => !closed); step += 1) {
      if (step > mostSteps) throw new Error(`it never ends: ${JSON.stringify(await this.#standings())}`);
      if (step < disturbedSteps) await this.#disturb();
      for (const walker of this.walkers) {
        if (walker.closed) continue;
        if (step >= disturbedSteps) await walker.scenario.resume(this.now);
        await this.#dial(walker);
        await this.#settleSome(walker.scenario.campaignId, step >= disturbedSteps ? 1 : 0.4);
      }
      this.now += minuteMs;
      await this.walkers[0]?.scenario.sweep(this.now);
    }
    for (const { scenario } of this.walkers) await this.#correct(scenario.campaignId, 0.2);
  }

  async #standings() {
    return Promise.all(
      this.walkers.map(async ({ scenario }) => ({
        state: await scenario.campaign().then(({ state, stateReason }) => [state, stateReason]),
        rows: (await scenario.recipients()).filter(({ state }) => state !== 'done'),
        attempts: (await scenario.attempts()).filter(({ state }) => state !== 'settled' && state !== 'released'),
      })),
    );
  }

  async #dial(walker: Walker): Promise<void> {
    const { scenario } = walker;
    for (let plans = 0; plans < 3; plans += 1) {
      if (!walker.sending) await this.#lookAtCallers(scenario);
      const plan = await scenario.plan(walker.n, this.now);
      if (plan.kind === 'wait') return;
      if (plan.kind === 'done') {
        await this.#close(walker);
        return;
      }
      walker.sending = !(await this.#submit(walker));
      if (walker.sending) return;
    }
  }

  /** Ends the round; a second one calls some rows of the first again. */
  async #close(walker: Walker): Promise<void> {
    const { scenario } = walker;
    const { campaignId, round } = scenario;
    if (!(await scenario.close(this.now))) return;
    walker.closed = true;
    const { endsAt } = (await scenario.campaign()).rules;
    if (round > 1 || (endsAt !== null && endsAt <= this.now) || this.#random.chance(0.5)) return;
    await retryEnded(this.#store, scenario.at(this.now), ['exhausted', 'cancelled', 'unresolved']);
    const next = await openRound(this.#store, campaignId, this.now);
    if (next === undefined) return;
    scenario.round = next.round;
    Object.assign(walker, { n: 1, closed: false });
  }

  /** Whether the batch has its verdict. */
  async #submit(walker: Walker): Promise<boolean> {
    const { scenario, n } = walker;
    const step = await scenario.post(n, this.now);
    if (step.kind === 'blocked' || step.kind === 'early' || step.kind === 'unsure') return false;
    if (step.kind === 'verdict') {
      walker.n += 1;
      return true;
    }
    const more = { k: step.k, now: this.now };
    const draw = this.#random.next();
    if (draw < 0.08) await scenario.post(n, this.now);
    else if (draw < 0.18) {
      await scenario.verdict(n, 'not_sent', {
        ...more,
        ...(draw < 0.12 ? { status: 429, notBefore: this.now + 2 * minuteMs } : {}),
      });
      return false;
    } else if (draw < 0.26) await scenario.verdict(n, 'refused', { ...more, status: 422 });
    else if (draw < 0.28) await scenario.verdict(n, 'refused', { ...more, status: 401 });
    else
      await scenario.verdict(n, 'confirmed', {
        ...more,
        serviceBatchId: `service_${scenario.batchId(n)}`,
        callsInitiated: step.calls.length,
      });
    walker.n += 1;
    return true;
  }

  async #settle(campaignId: string, attemptId: string): Promise<void> {
    const disposition = this.#random.pick(ends);
    const counted = disposition !== 'failed' || this.#random.chance(0.5);
    const result: AttemptResult = { disposition, detail: null, counted };
    await this.#store.transaction((tx) => settleAttempts(tx, { campaignId, now: this.now }, [{ attemptId, result }]));
  }

  async #settleSome(campaignId: string, share: number): Promise<void> {
    const open = await this.#store.db
      .selectFrom('attempts')
      .innerJoin('batches', 'batches.batch_id', 'attempts.batch_id')
      .select('attempt_id')
      .where('attempts.campaign_id', '=', campaignId)
      .where('attempts.state', '=', 'open')
      .where('batches.state', '=', 'confirmed')
      .orderBy('attempt_id')
      .execute();
    for (const { attempt_id: id } of open) if (this.#random.chance(share)) await this.#settle(campaignId, id);
  }

  /** Records that come after all. */
  async #correct(campaignId: string, share: number): Promise<void> {
    const settled = await this.#store.db
      .selectFrom('attempts')
      .select('attempt_id')
      .where('campaign_id', '=', campaignId)
      .where('state', '=', 'settled')
      .where('disposition', 'in', ['unreached', 'unknown'])
      .orderBy('attempt_id')
      .execute();
    for (const { attempt_id: id } of settled) if (this.#random.chance(share)) await this.#settle(campaignId, id);
  }

  async #disturb(): Promise<void> {
    const random = this.#random;
    const { scenario } = this.walkers[random.chance(0.5) ? 1 : 0] ?? {};
    if (scenario === undefined) return;
    const { campaignId } = scenario;
    const draw = random.next();
    if (draw < 0.05) await scenario.pause(this.now, 'paused by a person');
    else if (draw < 0.2) await scenario.resume(this.now);
    else if (draw < 0.3) await this.#correct(campaignId, 0.5);
    else if (draw < 0.45) await this.#edit(campaignId);
    else if (draw < 0.55) {
      const rows = [Math.ceil(random.next() * rowsPerCampaign), Math.ceil(random.next() * rowsPerCampaign)];
      await this.#person(() => withdrawRecipients(this.#store, { campaignId, note: null, dryRun: false, now: this.now }, { rows }));
    } else if (draw < 0.6) {
      const limits = { maxConcurrentCalls: Math.ceil(random.between(0, 8)), batchSize: Math.ceil(random.between(0, 6)) };
      const terms = { maxAttempts: Math.ceil(random.between(0, 4)), busy: [Math.ceil(random.between(0, 60)) * minuteMs] };
      const wish = { ...limits, ...(random.chance(0.5) ? terms : {}), ...(random.chance(0.3) ? { hours: null } : {}) };
      await adjustCampaign(this.#store, campaignId, { wish, reset: random.chance(0.3), now: this.now });
    } else if (draw < 0.66) {
      const e164 = pool[Math.floor(random.next() * pool.length)] ?? '';
      const expiresAt = random.chance(0.5) ? null : this.now + 30 * minuteMs;
      await scenario.suppress(e164, { expiresAt }, this.now);
    } else if (draw < 0.67) await scenario.end(random.chance(0.5) ? 'drained' : 'cancelled', this.now);
  }

  /** As the planner does: now and then, and whenever no number may call. */
  async #lookAtCallers(scenario: Scenario): Promise<void> {
    const campaign = await scenario.campaign();
    if (campaign.state !== 'running') return;
    const out = await this.#store.db.selectFrom('callers').select('out').where('campaign_id', '=', scenario.campaignId).execute();
    const needed = out.length > 0 && out.every((row) => row.out === 1);
    if (!needed && !this.#random.chance(0.1)) return;
    const standings = campaign.rules.callers.numbers.map((phoneNumberId) => ({
      phoneNumberId,
      e164: null,
      country: null,
      regions: null,
      fault: this.#random.chance(0.3) ? ('not_verified' as const) : null,
      verified: null,
    }));
    const faults = standings.every(({ fault }) => fault !== null) ? 'no number may call' : null;
    await noteCallers(this.#store, campaign, { standings, faults, now: this.now });
  }

  async #edit(campaignId: string): Promise<void> {
    const random = this.#random;
    const rows = Array.from({ length: 3 }, (_, index) =>
      drawRow(random, index + 1, `person${Math.floor(random.next() * (rowsPerCampaign + 4))}`),
    );
    const unique = [...new Map(rows.map((row) => [row.externalId, row])).values()];
    const fresh = [...new Map(unique.map((row) => [row.e164, row])).values()];
    await this.#person(() => upload(this.#store, fresh, { campaignId, restore: random.chance(0.3) }, this.now));
  }

  async #person(wish: () => Promise<unknown>): Promise<void> {
    try {
      await wish();
    } catch (error) {
      if (!(error instanceof EditRefusedError)) throw error;
    }
  }
}
