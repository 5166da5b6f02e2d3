import { givenUp } from '../../domain/attempts/retry-schedule.ts';
import { findCampaign, type Campaign } from '../rows/campaigns.ts';
import type { ConversationRow } from '../doubt/conversations.ts';
import type { AttemptRow } from '../doubt/correlation-rows.ts';
import { DecisionsRefusedError, findProblems, type DecisionLine, type DecisionProblem } from './decision-checks.ts';
import { findQuestions, groupBy, findUnresolved, readDoubtfulRows, type RecipientRow } from '../doubt/doubtful-rows.ts';
import type { NewEvent } from '../../domain/events.ts';
import { appendEvents } from '../events.ts';
import { assignRecord } from '../collect/matching.ts';
import { lockCampaign, type Queries, type Store } from '../open-ledger.ts';
import { finishRecipients } from '../rows/recipients.ts';
import { redialRecipient, refuseIfNobodyIsDialled } from './resolve.ts';

/** What has changed; what had been decided before is not counted. */
export interface DoubtResolution {
  assigned: number;
  dismissed: number;
  redialled: number;
  givenUp: number;
  /** Rows to redial or to give up that are not in doubt any more. */
  over: number;
}

/** Marks, in place of a conversation, a call about which a person has said to dial again. */
const redialMark = '';

/**
 * Carries out what a person has decided about rows in doubt: all of it in one transaction, or nothing. Repeating it changes nothing.
 * Throws DecisionsRefusedError, and RedialRefusedError when the campaign dials nobody any more.
 */
export async function resolveDoubt(
  store: Store,
  campaignId: string,
  lines: readonly DecisionLine[],
  now: number,
): Promise<DoubtResolution> {
  return store.transaction(async (tx) => {
    await lockCampaign(tx, store, campaignId);
    const campaign = await findCampaign(tx, campaignId);
    if (campaign === undefined) throw new Error(`campaign ${campaignId} is not in the database`);
    if (lines.some(({ decision }) => decision === 'redial')) refuseIfNobodyIsDialled(campaign, now);
    const resolving = new Resolving(tx, store, campaign, now);
    await resolving.read(lines);
    return resolving.decide(lines);
  });
}

class Resolving {
  readonly #tx: Queries;
  readonly #store: Store;
  readonly #campaign: Campaign;
  readonly #now: number;
  readonly #problems: DecisionProblem[] = [];
  #recipients = new Map<number, RecipientRow>();
  #attempts = new Map<string, AttemptRow>();
  #records = new Map<string, ConversationRow>();
  /** `attempt conversation` of what a person has said before. */
  #said = new Set<string>();
  readonly #done: DoubtResolution = { assigned: 0, dismissed: 0, redialled: 0, givenUp: 0, over: 0 };

  constructor(tx: Queries, store: Store, campaign: Campaign, now: number) {
    this.#tx = tx;
    this.#store = store;
    this.#campaign = campaign;
    this.#now = now;
  }

  async read(lines: readonly DecisionLine[]): Promise<void> {
    const rows = [...new Set(lines.map(({ row }) => row))];
    const attemptIds = [...new Set(lines.flatMap(({ attemptId }) => attemptId ?? []))];
    const conversationIds = [...new Set(lines.flatMap(({ conversationId }) => conversationId ?? []))];
    for (const part of partsOf(rows)) {
      const query = this.#tx.selectFrom('recipients').selectAll().where('row_number', 'in', part);
      const found = await query.where('campaign_id', '=', this.#campaign.campaignId).execute();
      for (const row of found) this.#recipients.set(row.row_number, row);
    }
    for (const part of partsOf(attemptIds)) {
      const found = await this.#tx.selectFrom('attempts').selectAll().where('attempt_id', 'in', part).execute();
      for (const row of found) this.#attempts.set(row.attempt_id, row);
    }
    const marked = [...attemptIds, ...[...this.#recipients.values()].map((row) => row.recipient_id)];
    for (const part of partsOf(marked)) {
      const found = await this.#tx.selectFrom('dismissals').selectAll().where('attempt_id', 'in', part).execute();
      for (const row of found) this.#said.add(`${row.attempt_id} ${row.conversation_id}`);
    }
    for (const part of partsOf(conversationIds)) {
      const query = this.#tx.selectFrom('conversations').selectAll();
      const found = await query.where('conversation_id', 'in', part).execute();
      for (const row of found) this.#records.set(row.conversation_id, row);
    }
  }

  async decide(lines: readonly DecisionLine[]): Promise<DoubtResolution> {
    const decided = lines.filter(({ decision }) => decision !== null);
    refuseIfAny(
      findProblems(
        {
          ledgerId: this.#store.ledgerId,
          recipients: this.#recipients,
          attempts: this.#attempts,
          records: this.#records,
        },
        lines,
      ),
    );
    for (const line of decided.filter(({ decision }) => decision === 'not_theirs')) await this.#dismiss(line);
    for (const line of decided.filter(({ decision }) => decision === 'theirs')) await this.#assign(line);
    const byRow = groupBy(lines, ({ row }) => row);
    const rows = [...byRow.keys()];
    const unresolved = new Map<number, RecipientRow>();
    for (const part of partsOf(rows))
      for (const row of await findUnresolved(this.#tx, this.#campaign.campaignId, part))
        unresolved.set(row.row_number, row);
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

  /** Whether a person has had the calls that the lines show dialled again before: an old file asks for nothing new. */
  #isRedialled(lines: readonly DecisionLine[]): boolean {
    return this.#marksOf(lines).every((id) => this.#said.has(`${id} ${redialMark}`));
  }

  #marksOf(lines: readonly DecisionLine[]): string[] {
    const id = this.#recipients.get(lines[0]?.row ?? 0)?.recipient_id ?? '';
    const own = lines.flatMap(({ attemptId }) =>
      attemptId !== null && this.#attempts.get(attemptId)?.recipient_id === id ? [attemptId] : [],
    );
    return own.length === 0 ? [id] : [...new Set(own)];
  }

  async #assign(line: DecisionLine): Promise<void> {
    const { attemptId, conversationId } = line;
    if (attemptId === null || conversationId === null) return;
    if (this.#records.get(conversationId)?.attempt_id === attemptId) return;
    const attempt = this.#attempts.get(attemptId);
    if (attempt === undefined) return;
    // A call of another campaign to the same number: its results take turns with its own dialling.
    if (attempt.campaign_id !== this.#campaign.campaignId)
      await lockCampaign(this.#tx, this.#store, attempt.campaign_id);
    await this.#log(attempt, 'theirs', conversationId);
    await assignRecord(this.#tx, this.#store, { attemptId, conversationId }, this.#now);
    this.#done.assigned += 1;
  }

  async #dismiss({ attemptId, conversationId }: Pick<DecisionLine, 'attemptId' | 'conversationId'>): Promise<void> {
    const attempt = this.#attempts.get(attemptId ?? '');
    if (attempt === undefined || conversationId === null) return;
    if (!(await this.#say(attempt.attempt_id, conversationId))) return;
    await this.#log(attempt, 'not_theirs', conversationId);
    const left = attempt.candidates === null ? [] : (JSON.parse(attempt.candidates) as string[]);
    const candidates = left.filter((id) => id !== conversationId);
    attempt.candidates = candidates.length === 0 ? null : JSON.stringify(candidates);
    await this.#tx
      .updateTable('attempts')
      .set({ candidates: attempt.candidates })
      .where('attempt_id', '=', attempt.attempt_id)
      .execute();
    const { recipient_id: recipientId } = attempt;
    const changed = this.#tx.updateTable('recipients').set({ changed_at: this.#now });
    await changed.where('recipient_id', '=', recipientId).execute();
    this.#done.dismissed += 1;
  }

  /** Keeps a word about a call; answers whether it is new. */
  async #say(attemptId: string, conversationId: string): Promise<boolean> {
    const kept = await this.#tx
      .insertInto('dismissals')
      .values({ attempt_id: attemptId, conversation_id: conversationId, at: this.#now })
      .onConflict((conflict) => conflict.doNothing())
      .returning('attempt_id')
      .executeTakeFirst();
    return kept !== undefined;
  }

  async #redial(recipient: RecipientRow, lines: readonly DecisionLine[], said: DecisionLine): Promise<void> {
    const [now] = await readDoubtfulRows(this.#tx, this.#campaign, [recipient], this.#now);
    const shown = new Set(lines.map(({ attemptId, conversationId }) => `${attemptId} ${conversationId}`));
    const calls = now?.calls ?? [];
    const open = calls.flatMap(({ attempt, records }) =>
      records.map(({ conversationId }) => ({ attempt, conversationId })),
    );
    const unseen = open.filter(({ attempt, conversationId }) => !shown.has(`${attempt.attempt_id} ${conversationId}`));
    if (unseen.length > 0) {
      const ids = unseen.map(({ conversationId }) => conversationId).join(', ');
      const what = `the row may have other records by now (${ids}): have the file written again, and check them`;
      this.#problems.push({ place: said.place, column: 'row', value: String(recipient.row_number), problem: what });
      return;
    }
    for (const { attempt, conversationId } of open) {
      this.#attempts.set(attempt.attempt_id, this.#attempts.get(attempt.attempt_id) ?? attempt);
      await this.#dismiss({ attemptId: attempt.attempt_id, conversationId });
    }
    for (const id of this.#marksOf(lines)) await this.#say(id, redialMark);
    const { recipient_id: recipientId } = recipient;
    const event = { at: this.#now, campaignId: this.#campaign.campaignId, recipientId };
    await appendEvents(this.#tx, [{ ...event, type: 'recipient.decided', data: { decision: 'redial', by: 'person' } }]);
    await redialRecipient(this.#tx, this.#campaign.campaignId, recipient, this.#now);
    // What the machine would wait for, or leave to a person, about other calls to the number is decided too.
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
    await finishRecipients(this.#tx, campaignId, [{ recipientId, outcome: 'unresolved', reason: givenUp }], this.#now);
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

const valuesPerQuery = 500;

function* partsOf<Value>(values: readonly Value[]): Generator<Value[]> {
  for (let start = 0; start < values.length; start += valuesPerQuery) yield values.slice(start, start + valuesPerQuery);
}
