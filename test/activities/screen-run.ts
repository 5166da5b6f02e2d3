import { ApplicationFailure } from '@temporalio/common';
import { expect } from 'vitest';
import type { EventType } from '../../src/rules/events.ts';
import { readEvents } from '../../src/ledger/events.ts';
import { readHookStatus } from '../../src/ledger/campaign/hook-standing.ts';
import { startHookServer, type HookServer } from '../shared/hooks/hook-server.ts';
import { plainNumbers, startTestSandbox, type TestSandbox } from '../sandbox/harness.ts';
import { beginCampaign } from '../ledger/scenario.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import type { TestDialect } from '../ledger/test-stores.ts';
import { buildRow, minuteMs, type RulesChanges } from '../support/campaign-rules.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import type { Store } from '../../src/ledger/tx.ts';
import { campaignId, connectClient, keepLog, Steps } from './steps.ts';

/** The verdict, or type and delay of the failure that makes it wait. */
export type Submitted = { state: string } | { waits: string | null | undefined; inMs: unknown };

export interface ScreenOptions {
  dialect?: TestDialect;
  rows?: number;
  rules?: RulesChanges;
  seed?: string;
  hookSecret?: string | undefined;
  timeoutMs?: number;
}

/** With a pre-dial hook against the sandbox; the test moves all clocks. */
export class ScreenRun {
  readonly sandbox: TestSandbox;
  readonly store: Store;
  readonly hook: HookServer;
  readonly steps: Steps;
  /** Requests that dial: time and numbers. */
  readonly posts: { at: number; numbers: string[] }[] = [];
  readonly #log = keepLog();

  constructor(sandbox: TestSandbox, store: Store, hook: HookServer, hookSecret: string | undefined) {
    [this.sandbox, this.store, this.hook] = [sandbox, store, hook];
    const now = () => sandbox.clock.now();
    const client = connectClient(sandbox.url, now);
    const placeBatchCalls: typeof client.placeBatchCalls = (body, options) => {
      this.posts.push({ at: now(), numbers: body.calls.map((call) => call.to_phone_number) });
      return client.placeBatchCalls(body, options);
    };
    const deps = buildDependencies({
      store: { ...store, now: async () => now() },
      client: { ...client, placeBatchCalls },
      logger: this.#log.logger,
      hookSecret,
      now,
      accountId: sandbox.url,
      limits: { postingWindowMs: minuteMs },
    });
    this.steps = new Steps(deps);
  }

  get clock() {
    return this.sandbox.clock;
  }

  async submit(n: number): Promise<Submitted> {
    const said = await this.steps.submit(n);
    if (!(said instanceof ApplicationFailure)) return { state: said };
    expect(said.category).toBe('BENIGN');
    expect(`${said.message} ${JSON.stringify(said.details)}`).not.toMatch(/\d555\d{4}/);
    return { waits: said.type, inMs: said.nextRetryDelay };
  }

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
    return readHookStatus(this.store.db, await this.steps.campaign());
  }

  log(): string {
    return this.#log.read();
  }
}

/** Its first round is open, and it may call all day. */
export async function beginScreened(options: ScreenOptions = {}): Promise<ScreenRun> {
  const { dialect = 'sqlite', rows = 3, timeoutMs = 20_000 } = options;
  const sandbox = await startTestSandbox({ seed: options.seed ?? 'screen' });
  const store = await openCleanStore(dialect);
  const hook = await startHookServer();
  const secret = 'hookSecret' in options ? options.hookSecret : 'a-secret-for-tests-only';
  const preDial = { url: hook.url, timeoutMs };
  const list = plainNumbers(rows).map((e164, index) => ({
    ...buildRow(index + 1, e164, [e164, `Guest ${index}`]),
    externalId: `A-${index + 1}`,
  }));
  const [accountId, now] = [sandbox.url, sandbox.clock.now()];
  await beginCampaign(store, { campaignId, rules: { ...options.rules, preDial }, rows: list, accountId, now });
  return new ScreenRun(sandbox, store, hook, secret);
}
