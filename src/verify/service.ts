import type { Queries } from '../ledger/tx.ts';
import { rowOf, type Attempt, type AuditState } from './book.ts';
import type { Difference, LogRule } from './log-rules.ts';
import { chunksOf, grouped } from './reader.ts';
import * as stored from './reader.ts';
import { disownedBy, namedBy } from './rules/records.ts';

/** An entry of the service's list; null: not stated. Instants are epoch ms. */
export interface ListedConversation {
  conversationId: string;
  inbound: boolean;
  startedAt: number | null;
  calleeNumber: string | null;
  batchId: string | null;
  references: readonly string[];
}

/** Only reads; `list` yields an agent's conversations in the service's order. */
export interface ServiceList {
  /** Its account; campaigns of others are skipped. */
  accountId: string;
  list(agentId: string): AsyncIterable<ListedConversation>;
  /** Present if the service reports on batches. */
  batches?: ServiceBatches;
}

interface ListedBatch {
  id: string;
  /** Database, title, and at the end the mark of its request. */
  name: string;
  /** Runs of the service's own retry of unreached recipients; null: not stated. */
  retries: number | null;
}

interface ReportedCall {
  ref: string | null;
  to: string | null;
  state: string | null;
  conversationId: string | null;
}

interface ServiceBatches {
  /** Its interface; campaigns of others are skipped. */
  api: string;
  list(): AsyncIterable<ListedBatch>;
  report(serviceBatchId: string): Promise<readonly ReportedCall[] | null>;
}

/** Batch states in which the log does not know whether, or as what, the service has it. */
const doubtful = ['posting', 'unknown', 'held', 'redial', 'given_up', 'confirmed'];

const mostNamed = 20;
const readsAtOnce = 8;
/** How long before its request a record may be dated, and how long after it a call may begin. */
const beforeMs = 5 * 60_000;
const afterMs = 2 * 3_600_000;

/** Compares the service's lists and reports with log and tables. */
export class ServiceAudit {
  /** Contradictions by the service, and notes for an operator. */
  readonly differences: Omit<Difference, 'table' | 'id'>[] = [];
  readonly notes: string[] = [];
  readonly #db: Queries;
  readonly #book: AuditState;

  constructor(db: Queries, book: AuditState) {
    this.#db = db;
    this.#book = book;
  }

  async read(service: ServiceList): Promise<void> {
    const { accountId, batches } = service;
    for (const { agentId, from } of await stored.postSpans(this.#db, accountId))
      try {
        await this.#readAgent(agentId, from, service.list(agentId));
      } catch (error) {
        this.notes.push(`The service's list of agent ${agentId} was not judged: ${wordsOf(error)}`);
      }
    if (batches === undefined) return;
    try {
      this.notes.push(`The service lists ${await this.#readMarks(batches)} batches with a mark of this database.`);
    } catch (error) {
      this.notes.push(`The service's list of batches was not judged: ${wordsOf(error)}`);
    }
    await this.#readReports(accountId, batches);
  }

  #differ(campaignId: string, rule: LogRule, what: string): void {
    this.differences.push({ campaignId, rule, what });
  }

  /** Records that name our calls but belong to none are violations; possible matches are notes. */
  async #readAgent(agentId: string, from: number, list: AsyncIterable<ListedConversation>): Promise<void> {
    const possible: string[] = [];
    let listed = 0;
    for await (const page of chunksOf(list)) {
      listed += page.length;
      const ids = page.map(({ conversationId }) => conversationId);
      const owners = await stored.owners(this.#db, ids);
      for (const entry of page) {
        const owner = owners.get(entry.conversationId);
        const against = owner === undefined ? null : disownedBy(this.#book, entry, owner);
        if (owner === undefined || against === null) continue;
        const what = `conversation ${entry.conversationId} of the service belongs to call ${owner.id}, and ${against}`;
        this.#differ(owner.campaign_id, 'record_ignored', what);
      }
      const unowned = page.filter(({ conversationId, inbound }) => !owners.has(conversationId) && !inbound);
      const names = unowned.flatMap(({ batchId }) => batchId ?? []);
      const ours = await stored.serviceBatches(this.#db, names);
      for (const entry of unowned) {
        const attemptId = namedBy(this.#book, entry.references);
        const batch = ours.get(entry.batchId ?? '');
        const named = this.#book.campaigns.get(attemptId?.split('/')[0] ?? '');
        const campaignId = batch?.campaign_id ?? named?.campaignId;
        if (campaignId !== undefined) {
          const call = attemptId ?? `a call of batch ${batch?.batch_id}`;
          const what = `conversation ${entry.conversationId} of the service names ${call}, and belongs to no call`;
          this.#differ(campaignId, 'record_ignored', what);
        } else if (await this.#mayBeOurs(agentId, entry, from)) possible.push(entry.conversationId);
      }
    }
    this.notes.push(`The service lists ${listed} conversations of agent ${agentId}.`);
    if (possible.length === 0) return;
    const many = `${possible.length} belong to nobody and may be calls of ours without a record`;
    this.notes.push(`Of these ${many}: ${named(possible)}.`);
  }

  /** True when a call without a record was posted at a fitting time, and to this number if known. */
  async #mayBeOurs(agentId: string, { startedAt, calleeNumber }: ListedConversation, from: number): Promise<boolean> {
    if (startedAt !== null && startedAt < from - beforeMs) return false;
    const span = startedAt === null ? null : { from: startedAt - afterMs, to: startedAt + beforeMs };
    return stored.hasUnmatched(this.#db, agentId, span, calleeNumber);
  }

  /** Every batch named as this database's must come from a logged request. Returns their count. */
  async #readMarks(batches: ServiceBatches): Promise<number> {
    const marked: (ListedBatch & { mark: string; title: string })[] = [];
    for await (const batch of batches.list()) {
      const { owner, title = '', mark = '' } = /^(?<owner>[^:]+):(?<title>.+) · (?<mark>\S+)$/.exec(batch.name)?.groups ?? {};
      if (owner !== undefined && owner === this.#book.ledgerId) marked.push({ ...batch, mark, title });
    }
    const marks = marked.map(({ mark }) => mark);
    // Read after the list: a request is stored before the service has it.
    const requests = await stored.marks(this.#db, marks);
    for (const { id, mark, title, retries } of marked) {
      const campaignId = title.slice(0, title.indexOf('/'));
      const batchId = requests.get(mark);
      if (batchId === undefined) {
        this.#differ(campaignId, 'service_differs', `the service has batch ${id} from a request for ${title} that is not in the log`);
        continue;
      }
      const what = `the service was asked to call again whom batch ${batchId} had not reached (retry_count ${retries})`;
      if (retries !== null && retries > 0) this.#differ(campaignId, 'service_repeats', what);
      const batch = this.#book.campaigns.get(campaignId)?.batches.get(batchId);
      // Begun after the log was read.
      if (batch === undefined || batch.serviceId === id) continue;
      if (batch.serviceId === null && doubtful.includes(batch.state)) continue;
      const known = batch.serviceId === null ? `the log says that it is ${batch.state}` : `the log has it as ${batch.serviceId}`;
      this.#differ(campaignId, 'service_differs', `the service has batch ${batchId} as ${id}, and ${known}`);
    }
    return marked.length;
  }

  async #readReports(accountId: string, batches: ServiceBatches): Promise<void> {
    const [gone, unnamed]: [string[], string[]] = [[], []];
    let missing = 0;
    for (const { campaign_id: campaignId, account_id: account, api } of await stored.campaigns(this.#db)) {
      const campaign = this.#book.campaigns.get(campaignId);
      if (campaign === undefined || account !== accountId || api !== batches.api) continue;
      const calls = grouped([...campaign.calls.values()].flat(), ({ batchId }) => batchId);
      const taken = [...campaign.batches.values()].filter(({ serviceId }) => serviceId !== null).values();
      const work = async () => {
        for (const { batchId, serviceId } of taken) {
          const report = await batches.report(serviceId ?? '');
          const byId = grouped(report ?? [], ({ ref }) => namedBy(this.#book, [ref ?? '']));
          if (report === null) gone.push(batchId);
          else if (report.length > 0 && byId.size === 0) unnamed.push(batchId);
          else missing += this.#judgeReport(batchId, calls.get(batchId) ?? [], byId);
        }
      };
      try {
        await Promise.all(Array.from({ length: readsAtOnce }, work));
      } catch (error) {
        this.notes.push(`What the service reports of the batches of ${campaignId} was not judged to its end: ${wordsOf(error)}`);
      }
    }
    const { notes } = this;
    if (gone.length > 0) notes.push(`The service does not have these batches any more, so it says nothing of their calls: ${named(gone)}.`);
    if (unnamed.length > 0) notes.push(`The service reports calls of these batches under ids of its own: ${named(unnamed)}.`);
    if (missing > 0) notes.push(`Reports of the service leave out ${missing} calls of the log.`);
  }

  /** Returns how many calls the report omits. */
  #judgeReport(batchId: string, calls: readonly Attempt[], byId: ReadonlyMap<string, readonly ReportedCall[]>): number {
    const [campaignId = ''] = batchId.split('/');
    for (const [id, entries] of byId) {
      const call = calls.find(({ attemptId }) => attemptId === id);
      const [entry] = entries;
      if (call === undefined || entry === undefined) {
        this.#differ(campaignId, 'service_differs', `the service reports call ${id} in batch ${batchId}, where the log has none`);
        continue;
      }
      if (entries.length > 1) this.#differ(campaignId, 'service_repeats', `the service reports ${entries.length} calls for call ${id}`);
      const against = againstCall(call, entry);
      if (against !== null) this.#differ(campaignId, 'service_differs', `call ${id} of row ${rowOf(id)} ${against}`);
    }
    return calls.filter(({ attemptId, state, call }) => state === 'settled' && call !== null && !byId.has(attemptId)).length;
  }
}

/** Null: no contradiction. */
function againstCall({ call, state, disposition, conversation, evidence }: Attempt, reported: ReportedCall): string | null {
  const { to, conversationId } = reported;
  if (to !== null && call !== null && to !== call.number) return 'went to another number, as the service reports it';
  if (state === 'released') {
    const isMade = conversationId !== null || ['dialling', 'talking', 'over'].includes(reported.state ?? '');
    return isMade ? 'was given back by the log, and the service made it' : null;
  }
  // The log claims nothing about open or doubtful calls; an operator's decision is final.
  if (state === null || disposition === 'unknown' || evidence === 'person') return null;
  if (conversation !== null && reported.state === 'waiting') return `has record ${conversation}, and the service has not made it yet`;
  if (conversationId === null || conversationId === conversation) return null;
  return `${conversation === null ? 'ended without a record' : `has record ${conversation}`}, and the service reports ${conversationId}`;
}

function named(ids: readonly string[]): string {
  return `${ids.slice(0, mostNamed).join(', ')}${ids.length > mostNamed ? ` and ${ids.length - mostNamed} more` : ''}`;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
