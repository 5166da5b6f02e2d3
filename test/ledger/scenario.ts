import { importCampaign } from '../../src/ledger/campaign/import-campaign.ts';
import { closeRound, noteCallerProven, openRound } from '../../src/ledger/campaign/rounds.ts';
import { concludeSweep } from '../../src/ledger/collect/conclude.ts';
import { storeListed } from '../../src/ledger/collect/listed-records.ts';
import { matchRecords } from '../../src/ledger/collect/matching.ts';
import { settleFromRecord } from '../../src/ledger/collect/record-results.ts';
import { leaseAgent, noteReadSucceeded } from '../../src/ledger/collect/sweeps.ts';
import { openPosting, type PostingStep } from '../../src/ledger/dial/posting.ts';
import { type VerdictInput, recordVerdict } from '../../src/ledger/dial/verdicts.ts';
import { storeRead } from '../../src/ledger/doubt/conversations.ts';
import { followPossibleOptOuts } from '../../src/ledger/doubt/possible-opt-outs.ts';
import { readEvents } from '../../src/ledger/events.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { readLineLimits } from '../../src/ledger/limits/line-limits.ts';
import { resolveUnresolved } from '../../src/ledger/people/resolve.ts';
import { retryEnded } from '../../src/ledger/people/retry-ended.ts';
import { isPlanReady, type Plan, planBatch } from '../../src/ledger/plan/planning.ts';
import { type Campaign, endCampaign, findCampaign, pauseCampaign, resumeCampaign } from '../../src/ledger/rows/campaigns.ts';
import { settleAttempts } from '../../src/ledger/rows/settle.ts';
import { addSuppressions, type Suppression } from '../../src/ledger/rows/suppressions.ts';
import type { ConversationFacts } from '../../src/rules/conversation-facts.ts';
import type { AttemptResult, Disposition } from '../../src/rules/disposition.ts';
import { renderWith } from '../../activities/campaign-templates.ts';
import { conversationRecord } from '../rules/conversation-record.ts';
import type { CampaignRules } from '../../src/rules/campaign-rules.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { buildRows, buildRules, type RulesChanges } from '../support/campaign-rules.ts';
import type { Insertable } from 'kysely';
import type { Database } from '../../src/ledger/schema.ts';
import type { Store } from '../../src/ledger/tx.ts';
import type { ImportRow } from '../../src/ledger/campaign/row-hash.ts';

export const noon = Date.UTC(2030, 0, 15, 12, 0, 0);
export const agentId = 'agent_reminders';

export function numbers(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, index) => `+1${201 + index + from}5550142`);
}

export function guests(count: number, from = 0): ImportRow[] {
  return buildRows(numbers(count, from), (index) => `Guest ${index + from}`);
}

export const waits = (reason: Extract<Plan, { kind: 'wait' }>['reason'], until?: number | null) => ({
  kind: 'wait' as const,
  reason,
  ...(until !== undefined && { until }),
});

export const twice = <Value>(value: Value): Value[] => [value, value];

export async function* once<Value>(value: Value): AsyncGenerator<Value> {
  yield value;
}

export interface ScenarioOptions {
  campaignId?: string;
  rules?: RulesChanges;
  /** Default: six guests. */
  rows?: ImportRow[] | number;
  /** By which API the service is asked; default: the contract's. */
  api?: ServiceApi;
  /** Of the service. */
  accountId?: string;
  now?: number;
}

export async function openCampaign(
  store: Store,
  campaign: { campaignId: string; rules: CampaignRules; rows: readonly ImportRow[]; accountId: string; api?: ServiceApi; now: number },
): Promise<number> {
  const { rows, now, ...more } = campaign;
  const input = { name: null, fileHash: 'hash', api: 'contract', ...more } as const;
  await importCampaign(store, input, { chunks: once([...rows]), now });
  return (await openRound(store, campaign.campaignId, now))?.round ?? 0;
}

export async function beginCampaign(store: Store, options: ScenarioOptions = {}): Promise<Scenario> {
  const { campaignId = 'spring', now = noon } = options;
  const rules = buildRules(options.rules);
  const rows = typeof options.rows === 'object' ? options.rows : guests(options.rows ?? 6);
  await openCampaign(store, { accountId: 'http://service', ...options, campaignId, rules, rows, now });
  return new Scenario(store, campaignId);
}

/** As `beginCampaign`, with a proven number and a record shown: no batch waits for either. */
export async function beginProven(store: Store, options: ScenarioOptions = {}): Promise<Scenario> {
  const scenario = await beginCampaign(store, options);
  await noteCallerProven(store, scenario.campaignId);
  const { campaignId } = scenario;
  await store.db.updateTable('campaigns').set({ record_shown: 1 }).where('campaign_id', '=', campaignId).execute();
  return scenario;
}

export class Scenario {
  readonly store: Store;
  readonly campaignId: string;
  /** The round that is open. */
  round = 1;

  constructor(store: Store, campaignId: string) {
    this.store = store;
    this.campaignId = campaignId;
  }

  async campaign(): Promise<Campaign> {
    const campaign = await findCampaign(this.store.db, this.campaignId);
    if (campaign === undefined) throw new Error('no campaign');
    return campaign;
  }

  plan(n: number, now = noon): Promise<Plan> {
    const render = (cells: readonly string[]) => ({ firstMessage: `Hello ${cells[1]}`, variables: null });
    return planBatch(this.store, { campaignId: this.campaignId, round: this.round, n, now, render });
  }

  /** As `plan`, with the words of the campaign's rules. */
  async planAsWritten(n: number, now = noon): Promise<Plan> {
    const render = renderWith((await this.campaign()).rules);
    return planBatch(this.store, { campaignId: this.campaignId, round: this.round, n, now, render });
  }

  post(n: number, now = noon, store = this.store): Promise<PostingStep> {
    const limits = { postingWindowMs: 10_000, httpTimeoutMs: 60_000, speed: 1 };
    return openPosting(store, { batchId: this.batchId(n), now, nowReal: now, ...limits });
  }

  async submit(n: number, now = noon): Promise<PostingStep> {
    await this.plan(n, now);
    return this.post(n, now);
  }

  async lose(n: number, now = noon): Promise<void> {
    await this.submit(n, now);
    await this.verdict(n, 'unknown', { now });
  }

  batchId(n: number): string {
    return `${this.campaignId}/${this.round}/${n}`;
  }

  verdict(n: number, verdict: VerdictInput['verdict'], more: Partial<VerdictInput> = {}) {
    const confirmed = verdict === 'confirmed' ? { serviceBatchId: `service_${n}`, callsInitiated: 20 } : {};
    return recordVerdict(this.store, { batchId: this.batchId(n), k: 1, verdict, now: noon, ...confirmed, ...more });
  }

  /** Answers the attempts' ids. */
  async dial(n: number, now = noon): Promise<string[]> {
    const step = await this.submit(n, now);
    if (step.kind !== 'post') throw new Error(`not posted: ${JSON.stringify(step)}`);
    await this.verdict(n, 'confirmed', { now, callsInitiated: step.calls.length });
    return step.calls.map((call) => call.attemptId);
  }

  at(now = noon): { campaignId: string; now: number } {
    return { campaignId: this.campaignId, now };
  }

  /** Counted, unless `more` says otherwise. */
  async settle(ids: string | readonly string[], disposition: Disposition, now = noon, more: Partial<AttemptResult> = {}): Promise<void> {
    const result = { disposition, detail: null, counted: true, ...more };
    const settlements = [ids].flat().map((attemptId) => ({ attemptId, result }));
    await this.store.transaction((tx) => settleAttempts(tx, this.at(now), settlements));
  }

  pause(now = noon, reason = 'by hand'): Promise<boolean> {
    return pauseCampaign(this.store, this.at(now), { reason });
  }

  resume(now = noon): Promise<boolean> {
    return resumeCampaign(this.store, this.at(now));
  }

  end(why: 'cancelled' | 'drained', now = noon): Promise<boolean> {
    return endCampaign(this.store, this.at(now), { why });
  }

  resolve(decision: Parameters<typeof resolveUnresolved>[2], now = noon) {
    return resolveUnresolved(this.store, this.at(now), decision);
  }

  retry(outcomes: Parameters<typeof retryEnded>[2], now = noon) {
    return retryEnded(this.store, this.at(now), outcomes);
  }

  isReady(now = noon): Promise<boolean> {
    return isPlanReady(this.store, this.campaignId, now);
  }

  close(now = noon): Promise<boolean> {
    return closeRound(this.store, this.at(now), this.round);
  }

  async suppress(e164: string, more: Partial<Suppression> = {}, now = noon): Promise<void> {
    const entry = { e164, scope: 'account', source: 'person', reason: null, expiresAt: null, ...more };
    await addSuppressions(this.store, [entry], now);
  }

  posts() {
    return this.store.db.selectFrom('posts').selectAll().orderBy('k').execute();
  }

  batch(n: number) {
    return this.store.db.selectFrom('batches').selectAll().where('batch_id', '=', this.batchId(n)).executeTakeFirst();
  }

  attempts() {
    return this.store.db
      .selectFrom('attempts')
      .selectAll()
      .where('campaign_id', '=', this.campaignId)
      .orderBy('batch_id')
      .orderBy('position')
      .execute();
  }

  async row(n = 1) {
    return (await this.recipients())[n - 1];
  }

  recipients() {
    return this.store.db.selectFrom('recipients').selectAll().where('campaign_id', '=', this.campaignId).orderBy('row_number').execute();
  }

  /** When each row is due, counted from noon, or its outcome. */
  async standings() {
    return (await this.recipients()).map(({ state, outcome, reason, due_at }) =>
      state === 'waiting' ? [state, due_at - noon] : [state, outcome, reason],
    );
  }

  async broken(): Promise<string[]> {
    const { rules } = await verifyLog(this.store.db, null);
    return rules.filter(({ violations }) => violations.length > 0).map(({ rule }) => rule).sort(); // prettier-ignore
  }

  async outcomes() {
    return (await this.recipients()).map(({ outcome }) => outcome);
  }

  /** The disposition of each call, or its state. */
  async dispositions() {
    return (await this.attempts()).map(({ disposition, state }) => disposition ?? state);
  }

  /** The list has had its time to show a call settled `from`, and is read again. Answers when such calls may be repeated. */
  async lookAgain(from: number): Promise<number> {
    const { lateLookbackMs } = (await this.campaign()).rules.timing;
    const after = from + lateLookbackMs + 1;
    await this.sweep(after);
    return after;
  }

  /** `complete`: it read the whole list. */
  async sweep(now: number, records: Partial<ConversationFacts>[] = [], complete = true): Promise<void> {
    await leaseAgent(this.store, { agentId, owner: 'test', forMs: 60_000 });
    const { timing, optOut } = (await this.campaign()).rules;
    await this.store.transaction(async (tx) => {
      await noteReadSucceeded(tx, agentId, now);
      const facts = records.map((record) => conversationRecord({ agentId, ...record }));
      await storeListed(tx, facts, { agentId, oursSince: 0, listens: optOut.length > 0, offsetMs: 0, now });
      for (const record of facts) {
        const { analysisWaitMs, ringLimitMs } = timing;
        const reading = { analysisWaitMs, ringLimitMs, optOut, offsetMs: 0 };
        const row = await storeRead(tx, record.conversationId, { facts: record, ...reading, now });
        await settleFromRecord(tx, row, { now, becameFinal: row.final === 1 });
      }
      await matchRecords(tx, agentId, { clock: { offsetMs: 0, uncertaintyMs: 500 }, since: 0, timing, now });
      await followPossibleOptOuts(tx, agentId, { timing, now });
      if (complete) await concludeSweep(tx, agentId, { begunAt: now, deepFrom: 0, now });
    });
  }
}

export function answered(conversationId: string, calleeNumber: string, startedAt: number): Partial<ConversationFacts> {
  return {
    conversationId,
    calleeNumber,
    startedAt,
    endedAt: startedAt + 30_000,
    durationMs: 30_000,
    status: 'done',
    callResult: 'answered',
    hasTranscript: true,
    agentTurns: 1,
    userTurns: 1,
    collected: { appointment: 'confirmed' },
    evaluation: {},
  };
}

export const accountId = 'http://service';

type Pacing = RulesChanges['pacing'];

/** Each person has a number that no other campaign of the test has. */
export function begin(store: Store, campaignId: string, pacing: Pacing, people: number, from = 0, more: RulesChanges = {}) {
  const rows = buildRows(numbers(people, from), (index) => `Guest ${index + from}`);
  return beginProven(store, { campaignId, rows, rules: { ...more, pacing } });
}

export async function limitsOf(scenario: Scenario, now = noon) {
  return readLineLimits(scenario.store.db, await scenario.campaign(), { now });
}

export async function told(scenario: Scenario, type: 'account.pace' | 'campaign.adjusted' | 'account.adjusted') {
  const events = await readEvents(scenario.store.db, scenario.campaignId, { afterSeq: 0, limit: 1_000, types: [type] });
  return events.map(({ data }) => data);
}

/** A call that no campaign made: to the first row, open since noon. */
export async function insertAttempt({ db }: Store, own: Partial<Insertable<Database['attempts']>> & { attempt_id: string }): Promise<void> {
  const place = { recipient_id: own.attempt_id, campaign_id: 'spring', batch_id: 'spring/1/1', position: 0, number: 1 };
  const call = { agent_id: agentId, e164: '+12125550101', state: 'open' as const, planned_at: noon, posted_at: noon, counted: 0 };
  await db.insertInto('attempts').values({ ...place, ...call, ...own }).execute(); // prettier-ignore
}

/** A record that no sweep listed: of nobody, and unread. */
export async function insertRecord({ db }: Store, id: string, own: Partial<Insertable<Database['conversations']>> = {}): Promise<void> {
  const record = {
    conversation_id: id,
    agent_id: agentId,
    facts: JSON.stringify(conversationRecord()),
    first_seen_at: noon,
    started_at: noon,
  };
  const unread = { finished: 0, final: 0, gone: 0, reads: 0, unchanged_reads: 0, next_read_at: noon + 3_600_000 };
  await db.insertInto('conversations').values({ ...record, ...unread, ...own }).execute(); // prettier-ignore
}
