import { evaluateEligibility, type Eligibility } from '../../rules/attempts/eligibility.ts';
import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import { openAttemptStates } from '../../rules/ledger.ts';
import { readQuestions } from '../plan/candidates.ts';
import { findCampaign, type Campaign } from '../rows/campaigns.ts';
import { findEntries } from '../rows/suppressions.ts';
import { readEventsOf } from '../events.ts';
import type { RecipientRow } from '../schema.ts';
import type { Queries } from '../tx.ts';
import { sqlLaterTerm } from '../rows/row-terms.ts';

export type NumberViewCall = Awaited<ReturnType<typeof readCalls>>[number];

export interface NumberViewRow {
  campaign: Campaign;
  recipient: RecipientRow;
  /** Whether the rules allow a call now, or from when; null unless the row waits in a campaign that has not ended. */
  verdict: Eligibility | null;
  calls: NumberViewCall[];
}

export type NumberView = NonNullable<Awaited<ReturnType<typeof readNumberView>>>;

/** A number in a thousand lists is cut. */
const mostRows = 100;
const mostEvents = 1_000;

/** What was decided about a number in every campaign, and what the rules say now. Read-only. Null: in no list. */
export async function readNumberView(db: Queries, e164: string, now: number) {
  const listed = selectListed(db).where('e164', '=', e164).orderBy('campaigns.created_at', 'desc').orderBy('recipients.row_number');
  const recipients = await listed.limit(mostRows).execute();
  const suppressions = await findEntries(db, [e164]);
  if (recipients.length === 0 && suppressions.length === 0) return null;
  const attempts = await readCalls(db, recipients);
  const isBusy = attempts.some(({ attempt: { state } }) => openAttemptStates.includes(state));
  const rows: NumberViewRow[] = [];
  for (const recipient of recipients) {
    const campaign = await findCampaign(db, recipient.campaign_id);
    if (campaign === undefined) continue;
    const calls = attempts.filter(({ attempt }) => attempt.recipient_id === recipient.recipient_id);
    rows.push({ campaign, recipient, verdict: await evaluateRow(db, { campaign, recipient, isBusy, now }), calls });
  }
  const ids = recipients.map((row) => row.recipient_id);
  const events = await readEventsOf(db, ids, mostEvents + 1);
  /** Newest campaign first; events oldest first. `truncated`: the log has older ones. */
  return { e164, rows, suppressions, events: events.slice(-mostEvents), truncated: events.length > mostEvents };
}

export function selectListed(db: Queries) {
  return db
    .selectFrom('recipients')
    .innerJoin('campaigns', 'campaigns.campaign_id', 'recipients.campaign_id')
    .selectAll('recipients')
    .where('campaigns.state', '<>', 'importing');
}

/** Numbers that any list has under a person's own id, sorted. */
export async function numbersOfPerson(db: Queries, personId: string): Promise<string[]> {
  const found = db
    .selectFrom('recipients')
    .select('e164')
    .distinct()
    .where('e164', 'is not', null)
    .where((eb) => eb.or([eb('external_id', '=', personId), eb(sqlLaterTerm(db, 'personKey'), '=', personId)]));
  return (await found.orderBy('e164').execute()).flatMap(({ e164 }) => e164 ?? []);
}

async function evaluateRow(
  db: Queries,
  { campaign, recipient, isBusy, now }: { campaign: Campaign; recipient: RecipientRow; isBusy: boolean; now: number },
): Promise<Eligibility | null> {
  if (recipient.state !== 'waiting' || !['scheduled', 'running', 'paused'].includes(campaign.state)) return null;
  const questionOf = await readQuestions(db, campaign, { recipients: [recipient], now });
  const verdict = evaluateEligibility(questionOf(recipient, isBusy));
  // A retry delay or planner deferral applies besides the rules.
  if (verdict.verdict === 'final' || recipient.due_at <= now) return verdict;
  const later = evaluateEligibility({ ...questionOf(recipient, false), at: recipient.due_at });
  const until = later.verdict === 'wait' ? later.until : recipient.due_at;
  return verdict.verdict === 'wait' && verdict.until >= until
    ? verdict
    : { verdict: 'wait', until, reason: later.verdict === 'wait' ? later.reason : 'not_before' };
}

async function readCalls(db: Queries, recipients: readonly RecipientRow[]) {
  if (recipients.length === 0) return [];
  const ids = recipients.map((row) => row.recipient_id);
  const calls = db
    .selectFrom('attempts')
    .leftJoin('conversations', 'conversations.attempt_id', 'attempts.attempt_id')
    .selectAll('attempts')
    .select('conversations.facts')
    .where('attempts.recipient_id', 'in', ids);
  const rows = await calls.orderBy('attempts.planned_at').orderBy('attempts.number').execute();
  return rows.map(({ facts, ...attempt }) => ({ attempt, facts: facts === null ? null : (JSON.parse(facts) as ConversationFacts) }));
}
