import { Writable } from 'node:stream';
import { ApplicationFailure } from '@temporalio/common';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { createActivities } from '../../activities/index.ts';
import { sweepAgent } from '../../activities/sweep.ts';
import { createConvaiClient } from '../../src/service/convai/client.ts';
import { findCampaign, type Campaign } from '../../src/ledger/rows/campaigns.ts';
import type { EventType } from '../../src/rules/events.ts';
import { readEvents } from '../../src/ledger/events.ts';
import { readHookStanding } from '../../src/ledger/campaign/hook-standing.ts';
import { importCampaign } from '../../src/ledger/campaign/import-campaign.ts';
import { openRound } from '../../src/ledger/campaign/rounds.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { startHookServer, type HookServer } from '../shared/hooks/hook-server.ts';
import { plainNumbers, startTestSandbox, type TestSandbox } from '../sandbox/harness.ts';
import { openTestStore, type TestDialect } from '../ledger/test-stores.ts';
import { buildRows, buildRules, minuteMs, type RulesChanges } from '../support/campaign-rules.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import type { Store } from '../../src/ledger/tx.ts';

export const campaignId = 'spring';

/** What a submit came to: its verdict, or the type and the delay of the failure with which it waits. */
export type Submitted = { state: string } | { waits: string | null | undefined; inMs: unknown };

export interface ScreenOptions {
  dialect?: TestDialect;
  rows?: number;
  rules?: RulesChanges;
  seed?: string;
  hookSecret?: string | undefined;
  timeoutMs?: number;
}

/** A campaign with a pre-dial hook against the sandbox, with the clock of all of them in the test's hand. */
export class ScreenRun {
  readonly sandbox: TestSandbox;
  readonly store: Store;
  readonly hook: HookServer;
  readonly activities: ReturnType<typeof createActivities>;
  /** Every request that dials: when it was sent, and whom it names. */
  readonly posts: { at: number; numbers: string[] }[] = [];
  readonly #deps: ActivityDependencies;
  readonly #log: string[] = [];

  constructor(sandbox: TestSandbox, store: Store, hook: HookServer, hookSecret: string | undefined) {
    this.sandbox = sandbox;
    this.store = store;
    this.hook = hook;
    const { clock } = sandbox;
    const client = createConvaiClient({
      baseUrl: sandbox.url,
      apiKey: 'sk_sandbox_ok',
      timeouts: { connectMs: 20_000, headersMs: 20_000, bodyMs: 20_000 },
      readsPerSecond: 1_000_000,
      retriesAfter429: { reads: 0 },
      nowReal: () => clock.now(),
      monotonicMs: () => clock.now(),
    });
    onTestFinished(() => client.close());
    const placeBatchCalls: typeof client.placeBatchCalls = (body, options) => {
      this.posts.push({ at: clock.now(), numbers: body.calls.map((call) => call.to_phone_number) });
      return client.placeBatchCalls(body, options);
    };
    const kept = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.#log.push(chunk.toString());
        done();
      },
    });
    this.#deps = buildDependencies({
      store: { ...store, now: async () => clock.now() },
      client: { ...client, placeBatchCalls },
      // Without the time, whose digits could be those of a number.
      logger: pino({ base: null, timestamp: false }, kept),
      hookSecret,
      now: () => clock.now(),
      accountId: sandbox.url,
      limits: { postingWindowMs: minuteMs },
    });
    this.activities = createActivities(this.#deps);
  }

  get clock() {
    return this.sandbox.clock;
  }

  async campaign(): Promise<Campaign> {
    const campaign = await findCampaign(this.store.db, campaignId);
    if (campaign === undefined) throw new Error('the campaign has gone');
    return campaign;
  }

  plan(n: number) {
    return this.activities.plan({ campaignId, round: 1, batchNumber: n });
  }

  async submit(n: number): Promise<Submitted> {
    try {
      const result = await this.activities.submit({ batchId: `${campaignId}/1/${n}` });
      if (result.kind !== 'verdict') throw new Error('the verdict was not recorded');
      return { state: result.state };
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
      expect(error.category).toBe('BENIGN');
      expect(`${error.message} ${JSON.stringify(error.details)}`).not.toMatch(/\d555\d{4}/);
      return { waits: error.type, inMs: error.nextRetryDelay };
    }
  }

  /** Reads the service's list once. */
  async sweep(): Promise<void> {
    const { timing, agentId } = (await this.campaign()).rules;
    await sweepAgent(this.#deps, await this.#deps.serviceClock(), { agentId, timing, onProgress: () => {} });
  }

  /** State, reason and answer of each attempt, in the order of the list. */
  async attempts() {
    const rows = await this.store.db
      .selectFrom('attempts')
      .select(['state', 'reason', 'screened', 'screened_at'])
      .orderBy('attempt_id')
      .execute();
    return rows.map(({ state, reason, screened, screened_at: at }) => [state, reason, screened, at]);
  }

  async recipients() {
    const rows = await this.store.db.selectFrom('recipients').selectAll().orderBy('row_number').execute();
    return rows.map(({ state, outcome, reason, due_at: dueAt }) => (state === 'waiting' ? [state, dueAt] : [state, outcome, reason]));
  }

  async events(types: readonly EventType[]) {
    return readEvents(this.store.db, campaignId, { afterSeq: 0, limit: 1000, types });
  }

  async standing() {
    return readHookStanding(this.store.db, await this.campaign());
  }

  /** What the process has written. */
  log(): string {
    return this.#log.join('');
  }

  async violations() {
    const { rules } = await verifyLog(this.store.db, null);
    return rules.flatMap(({ violations }) => violations);
  }
}

/** An imported campaign whose first round is open, and which may call all day. */
export async function beginScreened(options: ScreenOptions = {}): Promise<ScreenRun> {
  const { dialect = 'sqlite', rows = 3, timeoutMs = 20_000 } = options;
  const sandbox = await startTestSandbox({ seed: options.seed ?? 'screen' });
  const store = await openTestStore(dialect);
  const hook = await startHookServer();
  const secret = 'hookSecret' in options ? options.hookSecret : 'a-secret-for-tests-only';
  const run = new ScreenRun(sandbox, store, hook, secret);
  const rules = buildRules({ ...options.rules, preDial: { url: hook.url, timeoutMs } });
  const input = { campaignId, name: null, fileHash: 'hash', rules, accountId: sandbox.url };
  const list = buildRows(plainNumbers(rows), (index) => `Guest ${index}`).map((row, index) =>
    row.verdict === 'accepted' ? { ...row, externalId: `A-${index + 1}` } : row,
  );
  const chunks = (async function* () {
    yield list;
  })();
  await importCampaign(store, input, { chunks, now: sandbox.clock.now() });
  await openRound(store, campaignId, sandbox.clock.now());
  return run;
}
