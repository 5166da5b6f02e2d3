import { isDeepStrictEqual } from 'node:util';
import type { Queries } from '../ledger/tx.ts';
import { findAttempt, rowNumber, type CampaignBook } from './campaign-book.ts';
import { recordAgainst } from './judge-record.ts';
import type { LogJudge } from './log-judge.ts';
import type { LogRule, Violate } from './log-rules.ts';
import {
  chunksOf,
  partsOf,
  readAttempts,
  readBatches,
  readCampaigns,
  readEntries,
  readRecipients,
  type AttemptRow,
  type BatchRow,
  type RecipientRow,
} from './reader.ts';
import { hashRow } from './row-book.ts';

/** A difference between log and tables. While they are being written it need not be one: it is looked at again. */
export interface Difference {
  table: 'campaigns' | 'recipients' | 'attempts' | 'batches' | 'suppressions';
  id: string;
  campaignId: string;
  rule: LogRule;
  what: string;
}

/** Compares what the judge has gathered from the log with the tables: all of them, or again what differed before. */
export async function judgeTables(
  db: Queries,
  judge: LogJudge,
  rowKey: string | null,
  again: readonly Difference[] | null = null,
): Promise<Difference[]> {
  const of = (table: Difference['table']): readonly string[] | null =>
    again === null ? null : [...new Set(again.filter((one) => one.table === table).map(({ id }) => id))];
  return [
    ...(await judgeCampaigns(db, judge, of('campaigns'))),
    ...(await judgeTable<RecipientRow>('recipients', judge, of('recipients'), {
      read: (scope) => readRecipients(db, scope),
      idOf: (row) => row.recipient_id,
      known: recipientIds,
      compare: (compared, row) => compareRow(compared, row, rowKey),
    })),
    ...(await judgeTable<AttemptRow>('attempts', judge, of('attempts'), {
      read: (scope) => readAttempts(db, scope),
      idOf: (row) => row.attempt_id,
      known: attemptIds,
      compare: compareCall,
    })),
    ...(await judgeTable<BatchRow>('batches', judge, of('batches'), {
      read: (scope) => readBatches(db, scope),
      idOf: (row) => row.batch_id,
      known: ({ batches }) => batches.keys(),
      compare: compareBatch,
    })),
    ...(await judgeEntries(db, judge, of('suppressions'))),
  ];
}

interface Comparing<Row> {
  read: Parameters<typeof partsOf<Row>>[1];
  idOf: (row: Row) => string;
  /** Ids that the log has of a campaign. */
  known: (campaign: CampaignBook) => Iterable<string>;
  compare: (compared: Compared, row: Row | undefined) => void;
}

/** What the log has under an id, and where to note how the tables differ. */
interface Compared {
  campaign: CampaignBook;
  id: string;
  violate: Violate;
}

async function judgeTable<Row extends { campaign_id: string }>(
  table: Difference['table'],
  { campaigns }: LogJudge,
  ids: readonly string[] | null,
  { read, idOf, known, compare }: Comparing<Row>,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const counts = new Map<string, number>();
  const judge = (campaignId: string, id: string, row: Row | undefined): void => {
    counts.set(campaignId, (counts.get(campaignId) ?? 0) + 1);
    const campaign = campaigns.get(campaignId);
    // That the campaign is not in the log is told once.
    if (campaign === undefined) return;
    const violate: Violate = (rule, what) => differences.push({ table, id, campaignId, rule, what });
    compare({ campaign, id, violate }, row);
  };
  const judgeIds = async (some: readonly string[], campaignIdOf: (id: string) => string): Promise<void> => {
    for await (const { ids: part, rows } of partsOf(some, read, idOf)) {
      const byId = new Map(rows.map((row) => [idOf(row), row]));
      for (const id of part ?? []) judge(byId.get(id)?.campaign_id ?? campaignIdOf(id), id, byId.get(id));
    }
  };
  if (ids !== null) {
    await judgeIds(ids, (id) => id.slice(0, id.indexOf('/')));
    return differences;
  }
  for await (const { rows } of partsOf(null, read, idOf))
    for (const row of rows) judge(row.campaign_id, idOf(row), row);
  for (const [campaignId, campaign] of campaigns) {
    const inLog = [...known(campaign)];
    if (inLog.length <= (counts.get(campaignId) ?? 0)) continue;
    const told = new Set(differences.map(({ id }) => id));
    await judgeIds(
      inLog.filter((id) => !told.has(id)),
      () => campaignId,
    );
  }
  return differences;
}

function* recipientIds({ campaignId, firstRow, rows }: CampaignBook): Generator<string> {
  for (let row = firstRow; row < firstRow + rows; row += 1) yield `${campaignId}/${row}`;
}

function* attemptIds({ calls }: CampaignBook): Generator<string> {
  for (const attempts of calls.values()) for (const { attemptId } of attempts) yield attemptId;
}

function compareRow({ campaign, id, violate }: Compared, row: RecipientRow | undefined, rowKey: string | null): void {
  const differ = (what: string): void => violate('rows_differ', `row ${id} ${what}`);
  if (row === undefined) return differ('of the list is not in the tables');
  const number = rowNumber(campaign, id);
  if (number === null) return differ('is in the tables, and the log knows of no such row');
  const known = campaign.outcomes.get(id) ?? null;
  // Of rejected rows the log tells the number only.
  const excused = known === null && row.outcome === 'rejected';
  if (row.outcome !== known && !excused) differ(`has outcome ${row.outcome} in the tables, and ${known} in the log`);
  const hash = rowKey === null ? null : campaign.rowBook.of(number);
  if (hash == null || rowKey === null) return;
  const regions = row.regions === null ? null : (JSON.parse(row.regions) as unknown);
  const { e164, external_id: person, country, not_before: notBefore, expires_at: expiresAt } = row;
  const zones = JSON.parse(row.zones) as unknown;
  if (hashRow(rowKey, id, { e164, person, zones, country, regions, notBefore, expiresAt }) !== hash)
    differ('leads to another number, person, place or time than its list said');
}

function compareCall({ campaign, id, violate }: Compared, row: AttemptRow | undefined): void {
  const attempt = findAttempt(campaign, id);
  if (row === undefined) return violate('calls_differ', `call ${id} is in the log, and not in the tables`);
  if (attempt === undefined) return violate('calls_differ', `call ${id} is in the tables, and not in the log`);
  const compare = (what: string, inTable: unknown, inLog: unknown): void => {
    if (inTable === inLog) return;
    const both = `${String(inTable)} in the tables, and ${String(inLog)} in the log`;
    violate('calls_differ', `${what} of call ${id} is ${both}`);
  };
  const ended = row.state === 'settled' || row.state === 'released' ? row.state : null;
  compare('the end', ended, attempt.state);
  compare('the batch', row.batch_id, attempt.batchId);
  if (attempt.call !== null && row.e164 !== attempt.call.number)
    violate('calls_differ', `call ${id} went to another number by the tables than by the log`);
  // The fate of a batch that was posted again may be unknown: then the first request counts.
  const postedAt = [attempt.postedAt, attempt.call?.at ?? null, campaign.batches.get(attempt.batchId)?.firstPostedAt];
  if (!postedAt.includes(row.posted_at)) compare('the time', row.posted_at, attempt.postedAt);
  if (ended === 'settled' && attempt.state === 'settled') {
    compare('the disposition', row.disposition, attempt.disposition);
    compare('the place in the budget', row.counted === 1, attempt.counted);
  }
  if (ended !== null && attempt.state === ended) compare('the end', row.settled_at, attempt.endedAt);
  compare('the record', row.conversation_id, attempt.conversation);
  const says = recordAgainst(campaign.rules, row);
  if (says !== null)
    violate('record_contradicts', `call ${id} ended as ${row.disposition}, and its record says ${says}`);
}

function compareBatch({ campaign, id, violate }: Compared, row: BatchRow | undefined): void {
  const differ = (what: string): void => violate('requests_differ', what);
  const batch = campaign.batches.get(id);
  if (row === undefined) return differ(`batch ${id} is in the log, and not in the tables`);
  if (batch === undefined) return differ(`batch ${id} is in the tables, and not in the log`);
  if (row.state !== batch.state) differ(`batch ${id} is ${row.state} in the tables, and ${batch.state} in the log`);
  const inTables = row.posts.map(({ k, verdict }) => `${k} ${verdict ?? 'without a verdict'}`).join(', ');
  const inLog = batch.told.map((verdict, index) => `${index + 1} ${verdict ?? 'without a verdict'}`).join(', ');
  const first = row.posts[0]?.posted_at ?? null;
  if (inTables !== inLog)
    differ(`requests of batch ${id} are in the tables: ${inTables || 'none'}, and in the log: ${inLog || 'none'}`);
  else if (first !== batch.firstPostedAt)
    differ(`batch ${id} was posted at ${first} by the tables, and at ${batch.firstPostedAt} by the log`);
}

async function judgeCampaigns(
  db: Queries,
  { campaigns }: LogJudge,
  ids: readonly string[] | null,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const rows = new Map((await readCampaigns(db)).map((row) => [row.campaign_id, row]));
  for (const campaignId of ids ?? new Set([...rows.keys(), ...campaigns.keys()])) {
    const differ = (what: string) =>
      differences.push({ table: 'campaigns', id: campaignId, campaignId, rule: 'campaign_differs', what });
    const row = rows.get(campaignId);
    const campaign = campaigns.get(campaignId);
    if (row === undefined || campaign === undefined) {
      differ(
        `campaign ${campaignId} is ${row === undefined ? 'not in the tables' : 'in the tables, and not in the log'}`,
      );
      continue;
    }
    if (row.state !== campaign.state)
      differ(`the campaign is ${row.state} in the tables, and ${campaign.state} in the log`);
    if (!isDeepStrictEqual(JSON.parse(row.rules), campaign.toldRules))
      differ('the rules of the campaign in the tables are not those of its import');
    if (row.rows_total !== campaign.rows || row.rows_rejected !== campaign.rejected)
      differ(
        `the tables have ${row.rows_total} rows, ${row.rows_rejected} rejected, and the log ${campaign.rows}, ${campaign.rejected} rejected`,
      );
  }
  return differences;
}

/** Whoever the log has on the do-not-call list stands on it; more than those harm nobody. */
async function judgeEntries(db: Queries, { numbers }: LogJudge, ids: readonly string[] | null): Promise<Difference[]> {
  const differences: Difference[] = [];
  if (ids?.length === 0) return differences;
  for await (const chunk of chunksOf(numbers.entries())) {
    const entries = await readEntries(
      db,
      chunk.map(({ number }) => number),
    );
    for (const { scope, number, expiresAt } of chunk) {
      const id = `${scope} ${number}`;
      if (ids?.includes(id) === false || (entries.get(id) ?? 0) >= expiresAt) continue;
      const what = `a number that the log has on the do-not-call list of ${scope} is not on it, or for less long`;
      differences.push({ table: 'suppressions', id, campaignId: scope, rule: 'list_differs', what });
    }
  }
  return differences;
}
