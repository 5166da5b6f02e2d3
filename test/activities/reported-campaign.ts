import { sql } from 'kysely';
import { expect, onTestFinished } from 'vitest';
import { createActivities } from '../../activities/index.ts';
import { sweepAgent } from '../../activities/sweep.ts';
import { importCampaign } from '../../src/ledger/campaign/import-campaign.ts';
import { openRound } from '../../src/ledger/campaign/rounds.ts';
import { withdrawRecipients } from '../../src/ledger/people/withdraw-recipients.ts';
import type { CallReport } from '../../src/rules/correlation/call-report.ts';
import type { SandboxOptions } from '../../src/sandbox/core/settings/settings.ts';
import type { CallService } from '../../src/service/port/call-service.ts';
import { connectService } from '../../src/service/registry.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { openTestStore, dialects } from '../ledger/test-stores.ts';
import { plainNumbers, startTestSandbox } from '../sandbox/harness.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import { buildRows, buildRules, type RulesChanges } from '../support/campaign-rules.ts';

type Api = 'batch-calling' | 'campaigns';

export interface ReportedWorld {
  api: Api;
  dialect?: 'sqlite' | 'postgres';
  sandbox?: SandboxOptions;
  rules?: RulesChanges;
  people?: number;
  /** Whom the list has, where it matters. */
  numbers?: string[];
  /** What they are called, in turn. */
  names?: readonly string[];
  /** How far the machine's clock is ahead. */
  skewMs?: () => number;
  /** What stands between the program and the service. */
  between?: (service: CallService) => CallService;
}

const everybody = { answered: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 0 };
export const tickMs = 10_000;

/** A campaign over the real adapter and the real sandbox, on a clock that stands still between steps; all greet with the same words. */
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
    // What the service says of its time is read by the same clock.
    nowReal: () => now() + skewMs(),
  });
  onTestFinished(() => direct.close());
  const service = between(direct);
  const store = await openTestStore(dialect);
  const account = { accountId: sandbox.url, api };
  const deps = buildDependencies({ store, service, now: () => now() + skewMs(), monotonicMs: now, ...account });
  const { plan, submit } = createActivities(deps);
  const rules = buildRules({ firstMessage: 'Hello, this is your clinic.', pacing: { batchSize: 20 }, variables: null, ...changes });
  const input = { campaignId: 'spring', name: null, fileHash: 'hash', rules, ...account };
  const chunks = (async function* () {
    yield buildRows(numbers, (index) => names[index % names.length] ?? '');
  })();
  await importCampaign(store, input, { chunks, now: now() });
  await openRound(store, 'spring', now());
  await store.db.updateTable('campaigns').set({ caller_proven: 1, record_shown: 1 }).execute();

  let n = 0;
  const dial = async (): Promise<void> => {
    const planned = await plan({ campaignId: 'spring', round: 1, batchNumber: n + 1 });
    if (planned.kind !== 'batch') return;
    // What is blocked, or was not sent, is asked for again.
    if ((await submit({ batchId: planned.batchId }).catch(() => undefined)) !== undefined) n += 1;
  };
  const rows = () => store.db.selectFrom('recipients').select(['state', 'outcome', 'counted']).orderBy('row_number').execute();
  const sweep = async () => sweepAgent(deps, await deps.serviceClock(), { agentId: rules.agentId, timing: rules.timing, onProgress() {} });
  return {
    sandbox,
    service: direct,
    store,
    account,
    numbers,
    dial,
    sweep,
    /** A person takes these rows out. */
    async withdraw(...rows: number[]) {
      const options = { campaignId: 'spring', note: null, dryRun: false, now: now() };
      return (await withdrawRecipients(store, options, { rows })).map(({ result }) => result);
    },
    /** Lets time pass, and dials and collects meanwhile. */
    async run(ms: number, until: () => Promise<boolean> = async () => false): Promise<void> {
      for (const end = now() + ms; now() < end;) {
        await dial();
        await sweep();
        if (await until()) return;
        const isQuiet = sandbox.calls().every(({ state }) => state === 'done' || state === 'failed');
        sandbox.clock.advance(isQuiet ? 6 * tickMs : tickMs);
      }
    },
    /** Whom the service rang, by its own log: how often, and when last. */
    rang: () =>
      numbers.map((number) => {
        const calls = sandbox.calls().filter(({ to, dialedAt }) => to === number && dialedAt !== null && dialedAt <= now());
        return { times: calls.length, last: Math.max(0, ...calls.map(({ dialedAt }) => dialedAt ?? 0)) };
      }),
    rows,
    isDone: async () => (await rows()).every(({ state }) => state === 'done'),
    /** The rules that the judge of the log names once a statement has changed it, which is taken back. */
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
    async proof() {
      return (await verifyLog(store.db, null)).rules.flatMap(({ violations }) => violations);
    },
  };
}

export const apis: readonly Api[] = ['batch-calling', 'campaigns'];
export const everyCase = apis.flatMap((api) => dialects.map((dialect) => ({ api, dialect })));
export const once = (people: number) => Array.from({ length: people }, () => 1);
export const timesOf = (rang: { times: number }[]) => rang.map(({ times }) => times);

/** Changes every report on its way to the program. */
export const reporting = (change: (reports: readonly CallReport[]) => CallReport[]) => (service: CallService) => ({
  ...service,
  report: async (id: string) => change((await service.report?.(id)) ?? []),
});
