import { sql } from 'kysely';
import { expect, onTestFinished } from 'vitest';
import { withdrawRecipients } from '../../src/ledger/people/withdraw-recipients.ts';
import type { CallReport } from '../../src/rules/correlation/call-report.ts';
import type { SandboxOptions } from '../../src/sandbox/core/settings/settings.ts';
import type { CallService } from '../../src/service/port/call-service.ts';
import { connectService } from '../../src/service/registry.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginCampaign } from '../ledger/scenario.ts';
import { dialects } from '../ledger/test-stores.ts';
import { plainNumbers, startTestSandbox } from '../sandbox/harness.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import { buildRows, type RulesChanges } from '../support/campaign-rules.ts';
import { pauseCampaign, resumeCampaign } from '../../src/ledger/rows/campaigns.ts';
import { campaignId, everybody, Steps } from './steps.ts';

type Api = 'batch-calling' | 'campaigns';

export interface ReportedWorld {
  api: Api;
  dialect?: 'sqlite' | 'postgres';
  sandbox?: SandboxOptions;
  rules?: RulesChanges;
  people?: number;
  numbers?: string[];
  /** Names, used in turn. */
  names?: readonly string[];
  skewMs?: () => number;
  between?: (service: CallService) => CallService;
}

export const tickMs = 10_000;

/** Over the real adapter and sandbox, on a clock that stops between steps; opening lines are equal. */
export async function beginReported({
  api,
  dialect = 'sqlite',
  sandbox: options,
  rules: changes,
  people = 6,
  numbers = plainNumbers(people),
  names = ['Guest'],
  skewMs = () => 0,
  between = (service) => service,
}: ReportedWorld) {
  const sandbox = await startTestSandbox({ outcomeMix: everybody, meanTalkSeconds: 60, ...options });
  const now = () => sandbox.clock.now();
  const direct = connectService({
    baseUrl: sandbox.url,
    apiKey: 'sk_sandbox_ok',
    api,
    retriesAfter429: { reads: 0 },
    // The service's time is read by the same clock.
    nowReal: () => now() + skewMs(),
  });
  onTestFinished(() => direct.close());
  const service = between(direct);
  const store = await openCleanStore(dialect);
  const account = { accountId: sandbox.url, api };
  const steps = new Steps(buildDependencies({ store, service, now: () => now() + skewMs(), monotonicMs: now, ...account }));
  const rows = buildRows(numbers, (index) => names[index % names.length] ?? '');
  const rules = { firstMessage: 'Hello, this is your clinic.', pacing: { batchSize: 20 }, variables: null, ...changes };
  await beginCampaign(store, { rules, rows, ...account, now: now() });
  await store.db.updateTable('campaigns').set({ caller_proven: 1, record_shown: 1 }).execute();

  let n = 0;
  const dial = async (): Promise<void> => {
    const planned = await steps.plan(n + 1);
    if (planned.kind !== 'batch') return;
    if (typeof (await steps.submit(n + 1)) === 'string') n += 1;
  };
  const readRows = () => store.db.selectFrom('recipients').select(['state', 'outcome', 'counted']).orderBy('row_number').execute();
  return {
    sandbox,
    service: direct,
    store,
    account,
    numbers,
    dial,
    sweep: () => steps.sweep(),
    pause: (more: { letQueued?: true } = {}) => pauseCampaign(store, { campaignId, now: now() }, { reason: 'paused by a person', ...more }),
    resume: () => resumeCampaign(store, { campaignId, now: now() }),
    async withdraw(...rows: number[]) {
      const options = { campaignId, note: null, dryRun: false, now: now() };
      return (await withdrawRecipients(store, options, { rows })).map(({ result }) => result);
    },
    async run(ms: number, until: () => Promise<boolean> = async () => false): Promise<void> {
      for (const end = now() + ms; now() < end;) {
        await dial();
        await steps.sweep();
        if (await until()) return;
        const isQuiet = sandbox.calls().every(({ state }) => state === 'done' || state === 'failed');
        sandbox.clock.advance(isQuiet ? 6 * tickMs : tickMs);
      }
    },
    /** How often and when last each number rang, by the service's own log. */
    rang: () =>
      numbers.map((number) => {
        const calls = sandbox.calls().filter(({ to, dialedAt }) => to === number && dialedAt !== null && dialedAt <= now());
        return { times: calls.length, last: Math.max(0, ...calls.map(({ dialedAt }) => dialedAt ?? 0)) };
      }),
    rows: readRows,
    isDone: async () => (await readRows()).every(({ state }) => state === 'done'),
    /** Rules that verify finds broken once a statement has changed the log; the change is rolled back. */
    async forged(statement: string): Promise<string[]> {
      const named: string[] = [];
      const taken = new Error('taken back');
      const forge = store.db.transaction().execute(async (tx) => {
        const triggers = dialect === 'sqlite' ? ['events_no_update', 'events_no_delete'] : ['events_append_only on events'];
        for (const trigger of triggers) await sql.raw(`drop trigger ${trigger}`).execute(tx);
        await sql.raw(statement).execute(tx);
        for (const { rule, violations } of (await verifyLog(tx, null)).rules) if (violations.length > 0) named.push(rule);
        throw taken;
      });
      await expect(forge).rejects.toBe(taken);
      return named;
    },
    proof: () => steps.violations(),
  };
}

export const apis: readonly Api[] = ['batch-calling', 'campaigns'];
export const everyCase = apis.flatMap((api) => dialects.map((dialect) => ({ api, dialect })));
export const once = (people: number) => Array.from({ length: people }, () => 1);
export const timesOf = (rang: { times: number }[]) => rang.map(({ times }) => times);

export const reporting = (change: (reports: readonly CallReport[]) => CallReport[]) => (service: CallService) => ({
  ...service,
  report: async (id: string) => change((await service.report?.(id)) ?? []),
});
