import { givenUp } from '../../rules/attempts/retry-schedule.ts';
import { requireCampaign, type Campaign } from '../rows/campaigns.ts';
import { DecisionsRefusedError, findProblems, type DecisionLine, type DecisionProblem, type Named } from './decision-checks.ts';
import { findQuestions, findUnresolved, readDoubtfulRows } from '../doubt/doubtful-rows.ts';
import { groupBy } from '../../rules/collections.ts';
import { partsOf, readInParts } from '../parts.ts';
import type { NewEvent } from '../../rules/events.ts';
import { appendEvents } from '../events.ts';
import { assignRecord } from '../collect/matching.ts';
import { lockCampaign, lockedTransaction } from '../locks.ts';
import type { At, Tx, Store } from '../tx.ts';
import { finishRecipients } from '../rows/recipients.ts';
import { redialRecipient, refuseIfNotDialling } from './resolve.ts';
import { updateAttempt } from '../updates.ts';
import type { AttemptRow, RecipientRow } from '../schema.ts';

/** Earlier decisions are not counted. */
export interface DoubtResolution {
  assigned: number;
  dismissed: number;
  redialled: number;
  givenUp: number;
  /** Rows to redial or give up that are no longer in doubt. */
  over: number;
}

/** In place of a conversation id: the operator decided to redial this call. */
const redialMark = '';

/** Applies the operator's decisions, all or none. Idempotent. Throws DecisionsRefusedError and RedialRefusedError. */
export async function resolveDoubt(store: Store, { campaignId, now }: At, lines: readonly DecisionLine[]): Promise<DoubtResolution> {
  return lockedTransaction(store, campaignId, async (tx) => {
    const campaign = await requireCampaign(tx, campaignId);
    if (lines.some(({ decision }) => decision === 'redial')) refuseIfNotDialling(campaign, now);
    const named = await readNamed(tx, campaignId, lines);
    refuseIfAny(findProblems({ ledgerId: store.ledgerId, ...named }, lines));
    return new Resolving({ tx, campaign, now, named }).decide(lines);
  });
}

interface NamedWithDecisions extends Omit<Named, 'ledgerId'> {
  attempts: Map<string, AttemptRow>;
  /** `attempt conversation` of earlier decisions. */
  said: ReadonlySet<string>;
}

async function readNamed(tx: Tx, campaignId: string, lines: readonly DecisionLine[]): Promise<NamedWithDecisions> {
  const unique = <Value>(values: readonly Value[]): Value[] => [...new Set(values)];
  const rows = unique(lines.map(({ row }) => row));
  const attemptIds = unique(lines.flatMap(({ attemptId }) => attemptId ?? []));
  const conversationIds = unique(lines.flatMap(({ conversationId }) => conversationId ?? []));
  const ofCampaign = tx.selectFrom('recipients').selectAll().where('campaign_id', '=', campaignId);
  const recipients = await readInParts(rows, (part) => ofCampaign.where('row_number', 'in', part).execute());
  const attempts = await readInParts(attemptIds, (part) => tx.selectFrom('attempts').selectAll().where('attempt_id', 'in', part).execute());
  const marked = [...attemptIds, ...recipients.map((row) => row.recipient_id)];
  const dismissals = await readInParts(marked, (part) => tx.selectFrom('dismissals').selectAll().where('attempt_id', 'in', part).execute());
  const records = await readInParts(conversationIds, (part) =>
    tx.selectFrom('conversations').selectAll().where('conversation_id', 'in', part).execute(),
  );
  return {
    recipients: new Map(recipients.map((row) => [row.row_number, row])),
    attempts: new Map(attempts.map((row) => [row.attempt_id, row])),
    records: new Map(records.map((row) => [row.conversation_id, row])),
    said: new Set(dismissals.map((row) => `${row.attempt_id} ${row.conversation_id}`)),
  };
}

class Resolving {
  readonly #tx: Tx;
  readonly #campaign: Campaign;
  readonly #now: number;
  readonly #named: NamedWithDecisions;
  readonly #problems: DecisionProblem[] = [];
  readonly #done: DoubtResolution = { assigned: 0, dismissed: 0, redialled: 0, givenUp: 0, over: 0 };

  constructor({ tx, campaign, now, named }: { tx: Tx; campaign: Campaign; now: number; named: NamedWithDecisions }) {
    this.#tx = tx;
    this.#campaign = campaign;
    this.#now = now;
    this.#named = named;
  }

  async decide(lines: readonly DecisionLine[]): Promise<DoubtResolution> {
    const decided = lines.filter(({ decision }) => decision !== null);
    for (const line of decided.filter(({ decision }) => decision === 'not_theirs')) await this.#dismiss(line);
    for (const line of decided.filter(({ decision }) => decision === 'theirs')) await this.#assign(line);
    const byRow = groupBy(lines, ({ row }) => row);
    const { campaignId } = this.#campaign;
    const left = await readInParts([...byRow.keys()], (rows) => findUnresolved(this.#tx, campaignId, { rows }));
    const unresolved = new Map(left.map((row) => [row.row_number, row]));
    for (const [row, own] of byRow) {
      const last = own.find(({ decision }) => decision === 'redial' || decision === 'give_up');
      if (last === undefined) continue;
      const recipient = unresolved.get(row);
      if (recipient === undefined || this.#isRedialled(own)) this.#done.over += 1;
      else if (last.decision === 'redial') await this.#redial(recipient, own, last);
      else await this.#giveUp(recipient);
    }
    refuseIfAny(this.#problems);
    return this.#done;
  }

  /** Whether these calls were redialled before: an old file requests nothing new. */
  #isRedialled(lines: readonly DecisionLine[]): boolean {
    return this.#marksOf(lines).every((id) => this.#named.said.has(`${id} ${redialMark}`));
  }

  #marksOf(lines: readonly DecisionLine[]): string[] {
    const id = this.#named.recipients.get(lines[0]?.row ?? 0)?.recipient_id ?? '';
    const own = lines.flatMap(({ attemptId }) =>
      attemptId !== null && this.#named.attempts.get(attemptId)?.recipient_id === id ? [attemptId] : [],
    );
    return own.length === 0 ? [id] : [...new Set(own)];
  }

  async #assign(line: DecisionLine): Promise<void> {
    const { attemptId, conversationId } = line;
    if (attemptId === null || conversationId === null) return;
    if (this.#named.records.get(conversationId)?.attempt_id === attemptId) return;
    const attempt = this.#named.attempts.get(attemptId);
    if (attempt === undefined) return;
    // Another campaign's call: its results must not interleave with its own dialling.
    if (attempt.campaign_id !== this.#campaign.campaignId) await lockCampaign(this.#tx, attempt.campaign_id);
    await this.#log(attempt, 'theirs', conversationId);
    await assignRecord(this.#tx, { attemptId, conversationId, now: this.#now });
    this.#done.assigned += 1;
  }

  async #dismiss({ attemptId, conversationId }: Pick<DecisionLine, 'attemptId' | 'conversationId'>): Promise<void> {
    const attempt = this.#named.attempts.get(attemptId ?? '');
    if (attempt === undefined || conversationId === null) return;
    if (!(await this.#say(attempt.attempt_id, conversationId))) return;
    await this.#log(attempt, 'not_theirs', conversationId);
    const left = attempt.candidates === null ? [] : (JSON.parse(attempt.candidates) as string[]);
    const candidates = left.filter((id) => id !== conversationId);
    attempt.candidates = candidates.length === 0 ? null : JSON.stringify(candidates);
    await updateAttempt(this.#tx, attempt.attempt_id, { candidates: attempt.candidates });
    const { recipient_id: recipientId } = attempt;
    const changed = this.#tx.updateTable('recipients').set({ changed_at: this.#now });
    await changed.where('recipient_id', '=', recipientId).execute();
    this.#done.dismissed += 1;
  }

  /** Returns whether the decision is new. */
  async #say(attemptId: string, conversationId: string): Promise<boolean> {
    const kept = await this.#tx
      .insertInto('dismissals')
      .values({ attempt_id: attemptId, conversation_id: conversationId, at: this.#now })
      .onConflict((conflict) => conflict.doNothing())
      .returning('attempt_id')
      .executeTakeFirst();
    return kept !== undefined;
  }

  async #redial(recipient: RecipientRow, lines: readonly DecisionLine[], line: DecisionLine): Promise<void> {
    const [now] = await readDoubtfulRows(this.#tx, this.#campaign, { recipients: [recipient], now: this.#now });
    const shown = new Set(lines.map(({ attemptId, conversationId }) => `${attemptId} ${conversationId}`));
    const calls = now?.calls ?? [];
    const open = calls.flatMap(({ attempt, records }) => records.map(({ conversationId }) => ({ attempt, conversationId })));
    const unseen = open.filter(({ attempt, conversationId }) => !shown.has(`${attempt.attempt_id} ${conversationId}`));
    if (unseen.length > 0) {
      const ids = unseen.map(({ conversationId }) => conversationId).join(', ');
      const what = `the row may have other records by now (${ids}): have the file written again, and check them`;
      this.#problems.push({ place: line.place, column: 'row', value: String(recipient.row_number), problem: what });
      return;
    }
    for (const { attempt, conversationId } of open) {
      this.#named.attempts.set(attempt.attempt_id, this.#named.attempts.get(attempt.attempt_id) ?? attempt);
      await this.#dismiss({ attemptId: attempt.attempt_id, conversationId });
    }
    for (const id of this.#marksOf(lines)) await this.#say(id, redialMark);
    const { recipient_id: recipientId } = recipient;
    const event = { at: this.#now, campaignId: this.#campaign.campaignId, recipientId };
    await appendEvents(this.#tx, [{ ...event, type: 'recipient.decided', data: { decision: 'redial', by: 'person' } }]);
    await redialRecipient(this.#tx, recipient, this.#now);
    // Also decides other calls to the number that wait for evidence or the operator.
    const questions = await findQuestions(this.#tx, this.#campaign, [recipient]);
    const ids = questions.flatMap(({ attempt_id: id, conversation_id: known }) => (known === null ? [id] : []));
    for (const part of partsOf(ids))
      await this.#tx.updateTable('attempts').set({ reason: 'redial' }).where('attempt_id', 'in', part).execute();
    this.#done.redialled += 1;
  }

  async #giveUp({ recipient_id: recipientId }: RecipientRow): Promise<void> {
    const { campaignId } = this.#campaign;
    const data = { decision: 'give_up', by: 'person' } as const;
    await appendEvents(this.#tx, [{ at: this.#now, campaignId, type: 'recipient.decided', recipientId, data }]);
    await finishRecipients(this.#tx, { campaignId, now: this.#now }, [{ recipientId, outcome: 'unresolved', reason: givenUp }]);
    this.#done.givenUp += 1;
  }

  async #log(attempt: AttemptRow, decision: 'theirs' | 'not_theirs', conversation: string): Promise<void> {
    const event: NewEvent = {
      at: this.#now,
      campaignId: attempt.campaign_id,
      type: 'recipient.decided',
      recipientId: attempt.recipient_id,
      attemptId: attempt.attempt_id,
      data: { decision, conversation, by: 'person' },
    };
    await appendEvents(this.#tx, [event]);
  }
}

function refuseIfAny(problems: readonly DecisionProblem[]): void {
  if (problems.length > 0) throw new DecisionsRefusedError(problems);
}
