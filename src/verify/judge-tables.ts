import { isDeepStrictEqual } from 'node:util';
import type { Queries } from '../ledger/tx.ts';
import type { Campaign } from './book.ts';
import { compareCall, compareRow, type Compared } from './compare-row.ts';
import type { LogAudit } from './fold.ts';
import { readJudgedHouse } from './judged-rules.ts';
import type { Difference, Violate } from './log-rules.ts';
import {
  chunksOf,
  partsOf,
  readAttempts,
  readBatches,
  eachEntry,
  readCampaigns,
  readFigures,
  readEntries,
  readHouseTable,
  readRecipients,
  readStrays,
  type AttemptRow,
  type BatchRow,
  type RecipientRow,
} from './reader.ts';

/** Compares what the judge has gathered from the log with the tables: all of them, or again what differed before. */
export async function judgeTables(db: Queries, judge: LogAudit, again: readonly Difference[] | null = null): Promise<Difference[]> {
  const of = (table: Difference['table']): readonly string[] | null =>
    again === null ? null : [...new Set(again.filter((one) => one.table === table).map(({ id }) => id))];
  return [
    ...(await judgeCampaigns(db, judge, of('campaigns'))),
    ...(await judgeTable<RecipientRow>('recipients', judge, of('recipients'), {
      read: (scope) => readRecipients(db, scope),
      idOf: (row) => row.recipient_id,
      known: recipientIds,
      compare: compareRow,
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
    ...(again === null || of('conversations')?.length !== 0 ? await judgeStrays(db) : []),
    ...(await judgeEntries(db, judge, of('suppressions'))),
    ...(await judgeHouse(db, judge)),
  ];
}

interface Comparing<Row> {
  read: Parameters<typeof partsOf<Row>>[1];
  idOf: (row: Row) => string;
  /** Ids that the log has of a campaign. */
  known: (campaign: Campaign) => Iterable<string>;
  compare: (compared: Compared, row: Row | undefined) => void;
}

async function judgeTable<Row extends { campaign_id: string }>(
  table: Difference['table'],
  judge: LogAudit,
  ids: readonly string[] | null,
  { read, idOf, known, compare }: Comparing<Row>,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const counts = new Map<string, number>();
  const { campaigns } = judge;
  const look = (campaignId: string, id: string, row: Row | undefined): void => {
    counts.set(campaignId, (counts.get(campaignId) ?? 0) + 1);
    const campaign = campaigns.get(campaignId);
    // That the campaign is not in the log is told once.
    if (campaign === undefined) return;
    const violate: Violate = (rule, what) => differences.push({ table, id, campaignId, rule, what });
    compare({ judge, campaign, id, violate }, row);
  };
  const judgeIds = async (some: readonly string[], campaignIdOf: (id: string) => string): Promise<void> => {
    for await (const { ids: part, rows } of partsOf(some, read, idOf)) {
      const byId = new Map(rows.map((row) => [idOf(row), row]));
      for (const id of part ?? []) look(byId.get(id)?.campaign_id ?? campaignIdOf(id), id, byId.get(id));
    }
  };
  if (ids !== null) {
    await judgeIds(ids, (id) => id.slice(0, id.indexOf('/')));
    return differences;
  }
  for await (const { rows } of partsOf(null, read, idOf)) for (const row of rows) look(row.campaign_id, idOf(row), row);
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

function* recipientIds({ campaignId, firstRow, rows }: Campaign): Generator<string> {
  for (let row = firstRow; row < firstRow + rows; row += 1) yield `${campaignId}/${row}`;
}

function* attemptIds({ calls }: Campaign): Generator<string> {
  for (const attempts of calls.values()) for (const { attemptId } of attempts) yield attemptId;
}

function compareBatch({ campaign, id, violate }: Compared, row: BatchRow | undefined): void {
  const differ = (what: string): void => violate('requests_differ', what);
  const batch = campaign.batches.get(id);
  if (row === undefined) return differ(`batch ${id} is in the log, and not in the tables`);
  if (batch === undefined) return differ(`batch ${id} is in the tables, and not in the log`);
  if (row.state !== batch.state) differ(`batch ${id} is ${row.state} in the tables, and ${batch.state} in the log`);
  if (batch.serviceId !== null && row.service_batch_id !== batch.serviceId)
    differ(`the service took batch ${id} as ${row.service_batch_id} by the tables, and as ${batch.serviceId} by the log`);
  const inTables = row.posts.map(({ k, verdict }) => `${k} ${verdict ?? 'without a verdict'}`).join(', ');
  const inLog = batch.logged.map((verdict, index) => `${index + 1} ${verdict ?? 'without a verdict'}`).join(', ');
  const first = row.posts[0]?.posted_at ?? null;
  if (inTables !== inLog) differ(`requests of batch ${id} are in the tables: ${inTables || 'none'}, and in the log: ${inLog || 'none'}`);
  else if (first !== batch.firstPostedAt)
    differ(`batch ${id} was posted at ${first} by the tables, and at ${batch.firstPostedAt} by the log`);
}

async function judgeCampaigns(db: Queries, { campaigns }: LogAudit, ids: readonly string[] | null): Promise<Difference[]> {
  const differences: Difference[] = [];
  const rows = new Map((await readCampaigns(db)).map((row) => [row.campaign_id, row]));
  for (const campaignId of ids ?? new Set([...rows.keys(), ...campaigns.keys()])) {
    const differ = (what: string) => differences.push({ table: 'campaigns', id: campaignId, campaignId, rule: 'campaign_differs', what });
    const row = rows.get(campaignId);
    const campaign = campaigns.get(campaignId);
    if (row === undefined || campaign === undefined) {
      differ(`campaign ${campaignId} is ${row === undefined ? 'not in the tables' : 'in the tables, and not in the log'}`);
      continue;
    }
    if (row.state !== campaign.state) differ(`the campaign is ${row.state} in the tables, and ${campaign.state} in the log`);
    if (!isDeepStrictEqual(JSON.parse(row.rules), campaign.loggedRules))
      differ('the rules of the campaign in the tables are not those of its import');
    const [told, counted] = [await readFigures(db, campaignId), figuresOf(campaign)];
    for (const name of new Set([...told.keys(), ...counted.keys()]))
      if (told.get(name) !== counted.get(name))
        differ(`the report counts ${told.get(name) ?? 0} of ${name}, and the log has ${counted.get(name) ?? 0}`);
    if (row.file_hash !== campaign.fileHash) differ('campaign file and list of the tables are not those of the import');
    if (row.agent_id !== campaign.rules.agentId)
      differ(`the campaign calls with agent ${row.agent_id} by the tables, and with ${campaign.rules.agentId} by the log`);
    if (row.rows_total !== campaign.rows || row.rows_rejected !== campaign.rejected)
      differ(
        `the tables have ${row.rows_total} rows, ${row.rows_rejected} rejected, and the log ${campaign.rows}, ${campaign.rejected} rejected`,
      );
  }
  return differences;
}

function figuresOf({ outcomes, rejected, calls }: Campaign): Map<string, number> {
  const figures = new Map<string, number>();
  const add = (name: string, count: number) => void figures.set(name, (figures.get(name) ?? 0) + count);
  if (rejected > 0) add('outcome rejected', rejected);
  for (const outcome of outcomes.values()) add(`outcome ${outcome}`, 1);
  for (const attempts of calls.values())
    for (const { state, disposition } of attempts) if (state === 'settled') add(`disposition ${disposition}`, 1);
  return figures;
}

/** Records that point to a call which has another one, or none: results and report would show them as its own. */
async function judgeStrays(db: Queries): Promise<Difference[]> {
  return (await readStrays(db)).map(({ conversationId, attemptId }) => ({
    table: 'conversations',
    id: conversationId,
    campaignId: attemptId.slice(0, attemptId.indexOf('/')),
    rule: 'calls_differ',
    what: `record ${conversationId} points to call ${attemptId}, whose record it is not`,
  }));
}

/** Only the version that holds is compared: the log alone tells of the others. */
async function judgeHouse(db: Queries, { numbers }: LogAudit): Promise<Difference[]> {
  const held = await readHouseTable(db);
  const rules = readJudgedHouse(held.rules === null ? null : JSON.parse(held.rules));
  if (held.version === numbers.houseVersion && isDeepStrictEqual(rules, numbers.house)) return [];
  const what = `version ${held.version} of the house rules is stored, and the log has version ${numbers.houseVersion}, or other rules`;
  return [{ table: 'house_rules', id: String(held.version), campaignId: 'account', rule: 'house_differs', what }];
}

async function judgeEntries(db: Queries, { numbers }: LogAudit, ids: readonly string[] | null): Promise<Difference[]> {
  const differences: Difference[] = [];
  if (ids?.length === 0) return differences;
  const differ = (scope: string, number: string, what: string): void => {
    const id = `${scope} ${number}`;
    if (ids?.includes(id) === false) return;
    const told = `${what} the do-not-call list of ${scope}`;
    differences.push({ table: 'suppressions', id, campaignId: scope, rule: 'list_differs', what: told });
  };
  for await (const chunk of chunksOf(numbers.entries())) {
    const entries = await readEntries(
      db,
      chunk.map(({ number }) => number),
    );
    for (const { scope, number, expiresAt } of chunk) {
      const inTable = entries.get(`${scope} ${number}`);
      if (inTable === undefined) differ(scope, number, 'a number that the log has put on the list is not on');
      else if (inTable !== expiresAt)
        differ(scope, number, `a number stands ${inTable < expiresAt ? 'less' : 'more'} long than the log says on`);
    }
  }
  for await (const { scope, e164 } of eachEntry(db))
    if (!numbers.has(scope, e164)) differ(scope, e164, 'a number that the log has not put there stands on');
  return differences;
}
