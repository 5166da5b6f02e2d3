import { isDeepStrictEqual } from 'node:util';
import type { Queries } from '../ledger/tx.ts';
import type { AuditState, Campaign } from './book.ts';
import { readAuditedAccountRules } from './judged-rules.ts';
import { logRules, type Difference, type LogRule } from './log-rules.ts';
import { chunksOf } from './reader.ts';
import * as stored from './reader.ts';
import { sentencesOf, type Compared, type Finding, type Rows, type Rule } from './rules/rule.ts';

type Table = keyof Rows;
type Paged = Exclude<Table, 'campaigns'>;

/** How each table is read, and which of its ids the log has for a campaign. */
const paged: {
  [Name in Paged]: {
    read: (db: Queries, scope: stored.Scope) => Promise<Rows[Name][]>;
    known: (campaign: Campaign) => Iterable<string>;
  };
} = {
  recipients: {
    read: stored.recipients,
    *known({ campaignId, firstRow, rows }) {
      for (let row = firstRow; row < firstRow + rows; row += 1) yield `${campaignId}/${row}`;
    },
  },
  attempts: {
    read: stored.attempts,
    *known({ calls }) {
      for (const attempts of calls.values()) for (const { attemptId } of attempts) yield attemptId;
    },
  },
  batches: { read: stored.batches, known: ({ batches }) => batches.keys() },
};

/** `again`: only what differed before. */
export async function auditTables(db: Queries, state: AuditState, again: readonly Difference[] | null = null): Promise<Difference[]> {
  const of = (table: Difference['table']): readonly string[] | null =>
    again === null ? null : [...new Set(again.filter((one) => one.table === table).map(({ id }) => id))];
  return [
    ...(await auditCampaigns(db, state, of('campaigns'))),
    ...(await auditTable('recipients', db, state, of('recipients'))),
    ...(await auditTable('attempts', db, state, of('attempts'))),
    ...(await auditTable('batches', db, state, of('batches'))),
    ...(again === null || of('conversations')?.length !== 0 ? await auditStrays(db) : []),
    ...(await auditEntries(db, state, of('suppressions'))),
    ...(await auditAccountRules(db, state)),
  ];
}

const rules = (Object.entries(logRules) as [LogRule, Rule][]).flatMap(([rule, { inTables }]) => (inTables ? [{ rule, inTables }] : []));

function differencesOf(table: Table, compared: Compared, row: Rows[Table] | undefined): Difference[] {
  const { id, campaign } = compared;
  return rules.flatMap(({ rule, inTables }) => {
    const check = inTables[table] as ((compared: Compared, row: Rows[Table] | undefined) => Finding) | undefined;
    return sentencesOf(check?.(compared, row)).map((what) => ({ table, id, campaignId: campaign.campaignId, rule, what }));
  });
}

async function auditCampaigns(db: Queries, state: AuditState, ids: readonly string[] | null): Promise<Difference[]> {
  const differences: Difference[] = [];
  const rows = new Map((await stored.campaigns(db)).map((row) => [row.campaign_id, row]));
  for (const id of ids ?? new Set([...rows.keys(), ...state.campaigns.keys()])) {
    const campaign = state.campaigns.get(id);
    const row = rows.get(id);
    if (campaign === undefined) {
      const what = `campaign ${id} is ${row === undefined ? 'not in the tables' : 'in the tables, and not in the log'}`;
      differences.push({ table: 'campaigns', id, campaignId: id, rule: 'campaign_differs', what });
      continue;
    }
    const compared = { book: state, campaign, id, attempt: undefined };
    const figures = await stored.figures(db, id);
    differences.push(...differencesOf('campaigns', compared, row && { ...row, figures }));
  }
  return differences;
}

async function auditTable(table: Paged, db: Queries, state: AuditState, ids: readonly string[] | null): Promise<Difference[]> {
  const { known } = paged[table];
  const read: (scope: stored.Scope) => Promise<Rows[Paged][]> = (scope) => paged[table].read(db, scope);
  const differences: Difference[] = [];
  const counts = new Map<string, number>();
  const auditRow = (campaignId: string, id: string, row: Rows[Paged] | undefined): void => {
    counts.set(campaignId, (counts.get(campaignId) ?? 0) + 1);
    const campaign = state.campaigns.get(campaignId);
    // A campaign missing in the log is reported once.
    if (campaign === undefined) return;
    const attempt = table === 'attempts' ? campaign.find(id) : undefined;
    differences.push(...differencesOf(table, { book: state, campaign, id, attempt }, row));
  };
  const auditIds = async (some: readonly string[], campaignIdOf: (id: string) => string): Promise<void> => {
    for await (const { ids: part, rows } of stored.partsOf(some, read)) {
      const byId = new Map(rows.map((row) => [row.id, row]));
      for (const id of part ?? []) auditRow(byId.get(id)?.campaign_id ?? campaignIdOf(id), id, byId.get(id));
    }
  };
  if (ids !== null) {
    await auditIds(ids, (id) => id.slice(0, id.indexOf('/')));
    return differences;
  }
  for await (const { rows } of stored.partsOf(null, read)) for (const row of rows) auditRow(row.campaign_id, row.id, row);
  for (const [campaignId, campaign] of state.campaigns) {
    const inLog = [...known(campaign)];
    if (inLog.length <= (counts.get(campaignId) ?? 0)) continue;
    const named = new Set(differences.map(({ id }) => id));
    await auditIds(
      inLog.filter((id) => !named.has(id)),
      () => campaignId,
    );
  }
  return differences;
}

/** Results and report would show these records as the call's own. */
async function auditStrays(db: Queries): Promise<Difference[]> {
  return (await stored.strays(db)).map(({ conversationId, attemptId }) => ({
    table: 'conversations',
    id: conversationId,
    campaignId: attemptId.slice(0, attemptId.indexOf('/')),
    rule: 'calls_differ',
    what: `record ${conversationId} points to call ${attemptId}, whose record it is not`,
  }));
}

/** Only the current version is compared; earlier ones are only in the log. */
async function auditAccountRules(db: Queries, { numbers }: AuditState): Promise<Difference[]> {
  const held = await stored.accountRules(db);
  const rules = readAuditedAccountRules(held.rules === null ? null : JSON.parse(held.rules));
  if (held.version === numbers.houseVersion && isDeepStrictEqual(rules, numbers.house)) return [];
  const what = `version ${held.version} of the house rules is stored, and the log has version ${numbers.houseVersion}, or other rules`;
  return [{ table: 'house_rules', id: String(held.version), campaignId: 'account', rule: 'house_differs', what }];
}

async function auditEntries(db: Queries, { numbers }: AuditState, ids: readonly string[] | null): Promise<Difference[]> {
  const differences: Difference[] = [];
  if (ids?.length === 0) return differences;
  const differ = (scope: string, number: string, what: string): void => {
    const id = `${scope} ${number}`;
    if (ids?.includes(id) === false) return;
    const sentence = `${what} the do-not-call list of ${scope}`;
    differences.push({ table: 'suppressions', id, campaignId: scope, rule: 'list_differs', what: sentence });
  };
  for await (const chunk of chunksOf(numbers.entries())) {
    const entries = await stored.entries(
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
  for await (const { scope, e164 } of stored.eachEntry(db))
    if (!numbers.has(scope, e164)) differ(scope, e164, 'a number that the log has not put there stands on');
  return differences;
}
