import type { Selectable } from 'kysely';
import type { Database } from '../../src/ledger/schema.ts';
import type { Queries } from '../../src/ledger/tx.ts';
import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import type { RunningSandbox } from '../../src/sandbox/start.ts';
import { reportsRecipients } from '../../src/rules/service-api.ts';
import type { ConversationFacts } from '../../src/rules/conversation-facts.ts';
import { dayMs, hourMs } from '../support/campaign-rules.ts';
import { campaignOf } from './judge/calls.ts';
import type { Books, Dial, Evidence, Row } from './judge/evidence.ts';
import type { Closed } from './judge/not-then.ts';
import { settleMs, type World } from './inputs/draw-world.ts';
import type { CampaignPlan, Deed, Mix } from './mix.ts';
import type { Outcome } from './outcome.ts';

const tables = ['posts', 'batches', 'attempts', 'recipients', 'conversations', 'suppressions', 'aggregates'] as const;

/** What the judge reads in a database; `dials` are of the log, which the dial transaction writes and nothing changes. */
export type Ledger = { dials: Dial[] } & { [Table in (typeof tables)[number]]: Selectable<Database[Table]>[] };

export async function readLedger(db: Queries): Promise<Ledger> {
  const types = ['attempt.posted', 'attempt.matched'];
  const events = await db.selectFrom('events').selectAll().where('type', 'in', types).orderBy('seq').execute();
  const [posted, matched] = types.map((type) => events.filter((event) => event.type === type)) as [typeof events, typeof events];
  const dials = posted.map((event): Dial => {
    const { k, e164 } = JSON.parse(event.data ?? '{}') as { k: number; e164: string };
    return { attemptId: event.attempt_id ?? '', batchId: event.batch_id ?? '', k, e164, at: event.at };
  });
  const stored: Partial<Ledger> = {};
  for (const table of tables) stored[table] = (await db.selectFrom(table).selectAll().execute()) as never;
  const givenAt = new Map(matched.map(({ at, data }) => [(JSON.parse(data ?? '{}') as { conversation: string }).conversation, at]));
  const conversations = stored.conversations?.map((row) => ({ ...row, given_at: givenAt.get(row.conversation_id) }));
  return { ...(stored as Ledger), dials, conversations } as Ledger;
}

/** False for what the service gave back before it rang. */
export function isMade({ dialedAt, endedAt }: Pick<CallTruth, 'dialedAt' | 'endedAt'>): boolean {
  return dialedAt !== null || endedAt === null;
}

/** The calls that the service made for us. */
export function placedCalls(calls: readonly CallTruth[]): CallTruth[] {
  return calls.filter((call) => call.batchId !== null && isMade(call));
}

export function rowsOf({ campaignId, rows }: Pick<CampaignPlan, 'campaignId' | 'rows'>): Row[] {
  return rows.map(({ row, e164, externalId: person, hours, zones }) => {
    return { campaignId, row, numbers: e164 === null ? [] : [e164], person, hours, zones };
  });
}

/** The books of a ledger, with the faults of its run. */
export function booksOf(ledger: Ledger, faults: Partial<Books> = {}): Books {
  const plain = { dialect: 'extended', reports: false, cancelHides: false, isTimed: true, lost: [], partial: [], unreadable: [] } as const;
  return { ...ledger, ...plain, ...faults };
}

/** `known`: requests whose reply their process never had. */
export function gatherMix(mix: Mix, sandbox: RunningSandbox, ledger: Ledger, known: ReadonlySet<string>): Evidence {
  const { api = 'contract', campaigns } = mix;
  const journal = sandbox.journal();
  const entries = new Map(journal.flatMap((entry) => (entry.operation === 'batch_calls' ? [[entry.requestId, entry]] : [])));
  const isLost = (id: string): boolean => {
    // One that never came to the service was lost, too.
    const { ending, faults = [] } = entries.get(id) ?? {};
    return known.has(id) || ending !== 'sent' || faults.some((fault) => /^(truncate|html|reset|error)/.test(fault));
  };
  const struckBy = (kind: string) => journal.filter(({ faults }) => faults.some((id) => id.startsWith(kind)));
  const read = struckBy('missing').filter(({ operation }) => operation === 'get_conversation');
  return {
    calls: placedCalls(sandbox.calls()),
    rows: campaigns.flatMap(rowsOf),
    finals: ledger.recipients,
    faults: [],
    doubt: { by: 'books' },
    books: booksOf(ledger, {
      isTimed: (mix.workers ?? []).every((skewMs) => [0, hourMs, 2 * dayMs].every((passedMs) => skewMs(passedMs) === 0)),
      reports: reportsRecipients(api),
      cancelHides: api === 'batch-calling' && mix.sandbox.batchCalling?.cancelMarks === 'all',
      dialect: mix.sandbox.dialect === 'spec' ? 'spec' : 'extended',
      lost: ledger.posts.map((post) => `${post.batch_id}/${post.k}`).filter(isLost),
      partial: struckBy('partial').flatMap(({ requestId }) => requestId ?? []),
      unreadable: read.map(({ path }) => decodeURIComponent(path.split('/').at(-1) ?? '')),
    }),
  };
}

/** For clocks that differ, or records that tell too little. */
export function withoutBooks({ books: _books, doubt: _doubt, ...bare }: Evidence): Evidence {
  return bare;
}

export function gatherWorld(world: World, { evidence, ledger, calls: all, deeds, faults }: Outcome): Evidence {
  const { reported, api, mix } = world;
  const asked = mix.campaigns[0]?.rules.results?.find(({ next }) => next !== undefined)?.value;
  // By what the person said, whatever its record shows: such talks do not end their row where there is a rule for them.
  const asksAgain = ({ collected }: CallTruth) => asked != null && asked.values.some((value) => value === collected[asked.key]);
  const again = { from: 0, until: Infinity, told: true };
  const calls = placedCalls(all).map((call) => (asksAgain(call) ? { ...call, again } : call));
  const own = {
    ...withoutBooks(evidence),
    calls,
    settleMs,
    // A run that the service has misused is told by its other figures.
    faults: faults.filter((fault) => !fault.startsWith('conduct')),
  };
  if (reported === null) return own;
  const isOurs = ({ conversation_id: id, facts }: Ledger['conversations'][number]): boolean =>
    all.some((call) => call.batchId !== null && call.conversationId === id) ||
    (JSON.parse(facts) as ConversationFacts).direction === 'inbound';
  // A mark that no list shows is no proof against a record that fits, as long as too few have shown that ours name themselves.
  const isMarkProof = mix.provenLagMs !== undefined && ledger.conversations.every(isOurs);
  const { partial = [], dials = [] } = evidence.books ?? {};
  const unseen = api === 'batch-calling' && !isMarkProof;
  const overOnly = api === 'batch-calling' && mix.sandbox.batchCalling?.unanswered === 'completed';
  return {
    ...own,
    makesTwice: reported.isTwice,
    closed: reported.graceMs === null ? [] : closedBy(mix.campaigns, deeds, reported.graceMs),
    ...(reported.isDoubtful ? {} : { doubt: { by: 'requests', unseen, overOnly, partial, doubted: [], dials } }),
  };
}

/** What may not ring any more, so long after it was to be taken back. */
function closedBy(campaigns: readonly CampaignPlan[], deeds: readonly Deed[], graceMs: number): Closed[] {
  const closed: Closed[] = [];
  const close = (more: Pick<Closed, 'from'> & Partial<Closed>) => closed.push({ why: 'rang after it was taken back', by: 'rang', ...more });
  for (const { at, of } of deeds.filter(({ change }) => change === 'suppress')) close({ numbers: [of], from: at + graceMs + 1 });
  for (const { campaignId, rules } of campaigns) {
    if (rules.endsAt !== null) close({ campaignId, from: rules.endsAt });
    const own = deeds.filter(({ of }) => of === campaignId);
    for (const [nth, { at, change }] of own.entries()) {
      const from = at + graceMs + 1;
      if (change === 'cancel' || change === 'drain') close({ campaignId, from });
      if (change === 'pause') close({ campaignId, from, until: own[nth + 1]?.at ?? Infinity });
    }
  }
  return closed;
}

/** Unreached rows with attempts left: what doubt cost. */
export function countGivenUp({ mix }: World, calls: readonly CallTruth[]): number {
  let givenUp = 0;
  for (const { campaignId, rules, rows } of mix.campaigns)
    for (const { e164 } of rows) {
      const own = placedCalls(calls).filter((call) => call.to === e164 && campaignOf(call) === campaignId);
      const reached = own.some(({ result }) => result === 'answered' || result === 'voicemail');
      if (!reached && own.length < rules.retry.maxAttempts) givenUp += 1;
    }
  return givenUp;
}
