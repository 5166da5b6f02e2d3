import type { Queries } from '../ledger/tx.ts';
import type { Attempt, Batch, Campaign } from './book.ts';
import { rowOf } from './readings.ts';
import type { LogAudit } from './fold.ts';
import type { Difference, LogRule } from './log-rules.ts';
import { readCampaigns, readMarks } from './reader.ts';

export interface ListedBatch {
  id: string;
  /** Whose it is, and at its end the mark of the request that it comes from. */
  name: string;
  /** How often it was to call again whom it had not reached; null: the service does not say. */
  retries: number | null;
}

export interface ReportedCall {
  ref: string | null;
  to: string | null;
  state: string | null;
  conversationId: string | null;
}

export interface ServiceBatches {
  /** The interface; campaigns of others are left out. */
  api: string;
  list(): AsyncIterable<ListedBatch>;
  /** Null: it has no such batch. */
  report(serviceBatchId: string): Promise<readonly ReportedCall[] | null>;
}

type Found = Omit<Difference, 'table' | 'id'>;

/** States of a batch in which the log does not know whether, or as what, the service has it. */
const doubtful = ['posting', 'unknown', 'held', 'redial', 'given_up'];

const mostNamed = 20;
const readsAtOnce = 8;

/** Compares the service's list of batches with the requests that were made, and what it reports of each batch with the log. */
export async function judgeBatches(
  db: Queries,
  judge: LogAudit,
  { accountId, batches }: { accountId: string; batches: ServiceBatches },
): Promise<{ differences: Found[]; notes: string[] }> {
  const differences: Found[] = [];
  const notes: string[] = [];
  const differ = (campaignId: string, rule: LogRule, what: string): void => void differences.push({ campaignId, rule, what });
  try {
    notes.push(`The service lists ${await judgeMarks(db, judge, batches, differ)} batches with a mark of this database.`);
  } catch (error) {
    notes.push(`The service's list of batches was not judged: ${wordsOf(error)}`);
  }
  const own = (await readCampaigns(db)).filter((row) => row.account_id === accountId && row.api === batches.api);
  const gone: string[] = [];
  const unnamed: string[] = [];
  let missing = 0;
  for (const { campaign_id: campaignId } of own) {
    const campaign = judge.campaigns.get(campaignId);
    if (campaign === undefined) continue;
    const callsOf = callsByBatch(campaign);
    const taken = [...campaign.batches.values()].filter(({ serviceId }) => serviceId !== null).values();
    const work = async () => {
      for (const batch of taken) {
        const report = await batches.report(batch.serviceId ?? '');
        if (report === null) gone.push(batch.batchId);
        else if (report.length > 0 && !report.some(({ ref }) => attemptOf(judge, ref) !== null)) unnamed.push(batch.batchId);
        else missing += judgeReport(judge, batch, { report, calls: callsOf.get(batch.batchId) ?? [] }, differ);
      }
    };
    try {
      await Promise.all(Array.from({ length: readsAtOnce }, work));
    } catch (error) {
      notes.push(`What the service reports of the batches of ${campaignId} was not judged to its end: ${wordsOf(error)}`);
    }
  }
  if (gone.length > 0) notes.push(`The service does not have these batches any more, so it says nothing of their calls: ${named(gone)}.`);
  if (unnamed.length > 0) notes.push(`The service reports calls of these batches under ids of its own: ${named(unnamed)}.`);
  if (missing > 0) notes.push(`Reports of the service leave out ${missing} calls of the log.`);
  return { differences, notes };
}

type Differ = (campaignId: string, rule: LogRule, what: string) => void;

/** Every batch that is named as one of this database comes from a request in the log; answers how many there are. */
async function judgeMarks(db: Queries, judge: LogAudit, batches: ServiceBatches, differ: Differ): Promise<number> {
  const marked: (ListedBatch & { mark: string; title: string })[] = [];
  for await (const batch of batches.list()) {
    const { owner, title = '', mark = '' } = /^(?<owner>[^:]+):(?<title>.+) · (?<mark>\S+)$/.exec(batch.name)?.groups ?? {};
    if (owner !== undefined && owner === judge.ledgerId) marked.push({ ...batch, mark, title });
  }
  // Read afterwards: a request is in the tables before the service has it.
  const requests = await readMarks(
    db,
    marked.map(({ mark }) => mark),
  );
  for (const { id, mark, title, retries } of marked) {
    const campaignId = title.slice(0, title.indexOf('/'));
    const batchId = requests.get(mark);
    if (batchId === undefined) {
      differ(campaignId, 'service_differs', `the service has batch ${id} from a request for ${title} that is not in the log`);
      continue;
    }
    if (retries !== null && retries > 0)
      differ(
        campaignId,
        'service_repeats',
        `the service was asked to call again whom batch ${batchId} had not reached (retry_count ${retries})`,
      );
    const batch = judge.campaigns.get(campaignId)?.batches.get(batchId);
    // One that was begun since the log was read.
    if (batch === undefined || batch.serviceId === id) continue;
    if (batch.serviceId === null && (doubtful.includes(batch.state) || batch.state === 'confirmed')) continue;
    const known = batch.serviceId === null ? `the log says that it is ${batch.state}` : `the log has it as ${batch.serviceId}`;
    differ(campaignId, 'service_differs', `the service has batch ${batchId} as ${id}, and ${known}`);
  }
  return marked.length;
}

/** What is reported of each call agrees with its end in the log; answers how many calls the report leaves out. */
function judgeReport(
  judge: LogAudit,
  { batchId }: Batch,
  { report, calls }: { report: readonly ReportedCall[]; calls: readonly Attempt[] },
  differ: Differ,
): number {
  const byId = new Map<string, ReportedCall[]>();
  for (const entry of report) {
    const id = attemptOf(judge, entry.ref);
    if (id !== null) byId.set(id, [...(byId.get(id) ?? []), entry]);
  }
  const [campaignId = ''] = batchId.split('/');
  for (const [id, [entry, ...more]] of byId) {
    const call = calls.find(({ attemptId }) => attemptId === id);
    if (call === undefined || entry === undefined) {
      differ(campaignId, 'service_differs', `the service reports call ${id} in batch ${batchId}, where the log has none`);
      continue;
    }
    if (more.length > 0) differ(campaignId, 'service_repeats', `the service reports ${more.length + 1} calls for call ${id}`);
    const against = againstCall(call, entry);
    if (against !== null) differ(campaignId, 'service_differs', `call ${id} of row ${rowOf(id)} ${against}`);
  }
  return calls.filter(({ attemptId, state, call }) => state === 'settled' && call !== null && !byId.has(attemptId)).length;
}

/** What a report says against a call as the log has it; null: nothing. */
function againstCall({ call, state, disposition, conversation, evidence }: Attempt, reported: ReportedCall): string | null {
  const { to, conversationId } = reported;
  if (to !== null && call !== null && to !== call.number) return 'went to another number, as the service reports it';
  if (state === 'released') {
    const isMade = conversationId !== null || ['dialling', 'talking', 'over'].includes(reported.state ?? '');
    return isMade ? 'was given back by the log, and the service made it' : null;
  }
  // Of one that goes on, and of one that is in doubt, the log claims nothing; what a person has decided stands.
  if (state === null || disposition === 'unknown' || evidence === 'person') return null;
  if (conversation !== null && reported.state === 'waiting') return `has record ${conversation}, and the service has not made it yet`;
  if (conversationId === null || conversationId === conversation) return null;
  return `${conversation === null ? 'ended without a record' : `has record ${conversation}`}, and the service reports ${conversationId}`;
}

/** The attempt that a name in a report stands for; null: it is none of ours. */
function attemptOf({ ledgerId }: LogAudit, ref: string | null): string | null {
  const prefix = `${ledgerId}:`;
  return ref?.startsWith(prefix) === true ? ref.slice(prefix.length) : null;
}

function callsByBatch({ calls }: Campaign): Map<string, Attempt[]> {
  const byBatch = new Map<string, Attempt[]>();
  for (const attempt of [...calls.values()].flat()) {
    const known = byBatch.get(attempt.batchId);
    if (known === undefined) byBatch.set(attempt.batchId, [attempt]);
    else known.push(attempt);
  }
  return byBatch;
}

function named(ids: readonly string[]): string {
  return `${ids.slice(0, mostNamed).join(', ')}${ids.length > mostNamed ? ` and ${ids.length - mostNamed} more` : ''}`;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
