import { findCampaign } from '../rows/campaigns.ts';
import { refuseUnlessEditable } from './edit-refusal.ts';
import { judgeEdit, type EditFailure, type EditVerdict, type RecipientRow, type UploadRow } from './edit-verdict.ts';
import type { NewEvent } from '../../domain/events.ts';
import { appendEvents } from '../events.ts';
import { findHolders, findOpen, findTargets, findWaiting, lastRow } from './edit-targets.ts';
import { listColumnsOf, recipientOf } from '../campaign/import-campaign.ts';
import { lockCampaign, type Queries, type Store } from '../open-ledger.ts';
import { requeueRecipient } from '../rows/recipients.ts';
import { rowHasher } from '../campaign/row-hash.ts';
import { wordsKeysOf } from '../words-key.ts';

/** What became of one row of an upload. */
export interface EditResult {
  /** Data row of the upload, from 1. */
  row: number;
  result: 'accepted' | 'corrected' | 'unchanged' | 'failed';
  code: EditFailure | null;
  hint: string | null;
  /** Row of the campaign, as the results count it; null when there is none. */
  campaignRow: number | null;
}

export interface EditOptions {
  campaignId: string;
  /** Whether rows that were withdrawn come back when the upload has them. */
  restore: boolean;
  /** Judges and changes nothing. */
  dryRun: boolean;
}

/** Rows whose number another row of the campaign still has: that one may come later in the file. Further ones are not waited for. */
const mostDeferred = 50_000;
/** Rows that may exchange their numbers in a circle. */
const mostAtOnce = 5_000;
const rowsPerPart = 500;

interface Judged {
  row: UploadRow;
  target: RecipientRow | undefined;
  verdict: EditVerdict;
}

/**
 * Brings the rows of a campaign up to date with an upload, part by part: each part is one transaction that takes turns with planning and
 * dialling, and in which it is asked again, row by row, whether a call is open. Call `finish` at the end: it answers the rows that had to
 * wait.
 */
export class RecipientEditor {
  readonly #store: Store;
  readonly #options: EditOptions;
  readonly #deferred: UploadRow[] = [];
  /** What a dry run would have changed so far: recipients whose number would be free, and rows added. */
  readonly #freed = new Set<string>();
  #added = 0;

  constructor(store: Store, options: EditOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Throws EditRefusedError when the campaign has ended meanwhile. */
  async apply(rows: readonly UploadRow[], now: number): Promise<EditResult[]> {
    const mayWait = this.#deferred.length + rows.length <= mostDeferred;
    return this.#run(rows, mayWait, now);
  }

  /** The campaign's rows of these ids that may still be called, as they are now. */
  findWaiting(externalIds: readonly string[]): Promise<Map<string, number>> {
    return findWaiting(this.#store.db, this.#options.campaignId, externalIds);
  }

  /** Answers the rows that had to wait until another one gave up its number. */
  async finish(now: number): Promise<EditResult[]> {
    const results: EditResult[] = [];
    // In a list that has slipped by a row, the last one gives up its number first.
    for (let rows = this.#deferred.splice(0); rows.length > 0;)
      results.push(...(await this.#run(rows.splice(-rowsPerPart), true, now)));
    // What is left goes round in a circle, if it goes at all.
    for (let rows = this.#deferred.splice(0); rows.length > 0;)
      results.push(...(await this.#run(rows.splice(0, mostAtOnce), false, now)));
    return results;
  }

  async #run(rows: readonly UploadRow[], mayWait: boolean, now: number): Promise<EditResult[]> {
    const { campaignId, dryRun } = this.#options;
    if (dryRun) {
      refuseUnlessEditable(await findCampaign(this.#store.db, campaignId), now);
      const judged = await this.#judge(this.#store.db, rows);
      const first = (await lastRow(this.#store.db, campaignId)) + this.#added + 1;
      for (const { target, verdict } of judged)
        if (verdict.kind === 'correct' && verdict.claimsNumber && target !== undefined)
          this.#freed.add(target.recipient_id);
      this.#added += judged.filter(({ verdict }) => verdict.kind === 'add').length;
      return this.#answer(judged, first, mayWait);
    }
    const done = await this.#store.transaction(async (tx) => {
      await lockCampaign(tx, this.#store, campaignId);
      refuseUnlessEditable(await findCampaign(tx, campaignId), now);
      const judged = await this.#judge(tx, rows);
      const first = (await lastRow(tx, campaignId)) + 1;
      await write(tx, campaignId, judged, first, now);
      return { judged, first };
    });
    return this.#answer(done.judged, done.first, mayWait);
  }

  async #judge(db: Queries, rows: readonly UploadRow[]): Promise<Judged[]> {
    const { campaignId, restore } = this.#options;
    const targets = await findTargets(db, campaignId, rows);
    const open = await findOpen(
      db,
      [...targets.values()].map((target) => target.recipient_id),
    );
    const judged = rows.map((row): Judged => {
      const target = targets.get(row.externalId);
      const isOpen = target !== undefined && open.has(target.recipient_id);
      return { row, target, verdict: judgeEdit(row, target, { isOpen, restore }) };
    });
    return this.#refuseTakenNumbers(db, judged);
  }

  /** A number belongs to one row; one that its row gives up in the same part is free. */
  async #refuseTakenNumbers(db: Queries, judged: readonly Judged[]): Promise<Judged[]> {
    const { campaignId } = this.#options;
    const claims = judged.filter(({ verdict }) => claimsNumber(verdict));
    const holders = await findHolders(
      db,
      campaignId,
      claims.map(({ row }) => row.e164),
    );
    const freed = new Set(this.#freed);
    for (const { target } of claims) if (target !== undefined) freed.add(target.recipient_id);
    const refused = new Map<UploadRow, number>();
    // One that is refused keeps its own number, which may refuse another one.
    for (let before = -1; before !== refused.size;) {
      before = refused.size;
      for (const { row, target } of claims) {
        const holder = holders.get(row.e164);
        if (refused.has(row) || holder === undefined || holder.id === target?.recipient_id || freed.has(holder.id))
          continue;
        refused.set(row, holder.row);
        if (target !== undefined) freed.delete(target.recipient_id);
      }
    }
    return judged.map((one) => {
      const holder = refused.get(one.row);
      return holder === undefined ? one : { ...one, verdict: duplicateOf(holder) };
    });
  }

  #answer(judged: readonly Judged[], firstAdded: number, mayWait: boolean): EditResult[] {
    let next = firstAdded;
    const results: EditResult[] = [];
    for (const { row, target, verdict } of judged) {
      const campaignRow = target?.row_number ?? null;
      const base = { row: row.row, code: null, hint: null, campaignRow };
      if (verdict.kind === 'add') results.push({ ...base, result: 'accepted', campaignRow: next++ });
      else if (verdict.kind === 'correct') results.push({ ...base, result: 'corrected' });
      else if (verdict.kind === 'unchanged') results.push({ ...base, result: 'unchanged' });
      else if (verdict.code === 'duplicate_phone' && mayWait) this.#deferred.push(row);
      else results.push({ ...base, result: 'failed', code: verdict.code, hint: verdict.hint });
    }
    return results;
  }
}

function claimsNumber(verdict: EditVerdict): boolean {
  return verdict.kind === 'add' || (verdict.kind === 'correct' && verdict.claimsNumber);
}

function duplicateOf(row: number): EditVerdict {
  const hint = `row ${row} of the campaign has the same number; each number is dialled for one row only`;
  return { kind: 'failed', code: 'duplicate_phone', hint };
}

async function write(
  tx: Queries,
  campaignId: string,
  judged: readonly Judged[],
  firstAdded: number,
  now: number,
): Promise<void> {
  const events: NewEvent[] = [];
  const added = judged.filter(({ verdict }) => verdict.kind === 'add').map(({ row }) => row);
  const campaign = await findCampaign(tx, campaignId);
  const keyOf = campaign === undefined ? () => null : wordsKeysOf(campaign.rules);
  const hashed = await rowHasher(tx);
  const rows = added.map((row, index) => {
    const recipient = recipientOf(campaignId, { ...row, row: firstAdded + index }, keyOf, now);
    const { recipient_id: recipientId } = recipient;
    events.push({
      at: now,
      campaignId,
      type: 'recipient.added',
      recipientId,
      data: { hash: hashed(recipientId, row) },
    });
    return recipient;
  });
  for (let start = 0; start < rows.length; start += rowsPerPart)
    await tx
      .insertInto('recipients')
      .values(rows.slice(start, start + rowsPerPart))
      .execute();
  let accepted = 0;
  for (const { row, target, verdict } of judged) {
    if (verdict.kind !== 'correct' || target === undefined) continue;
    await correct(tx, row, target, verdict, keyOf(row.cells), now);
    if (verdict.takesBack === 'rejected') accepted += 1;
    const { recipient_id: recipientId, e164 } = target;
    const numberChanged = row.e164 !== e164;
    const data = { outcome: verdict.takesBack, numberChanged, hash: hashed(recipientId, row) };
    events.push({ at: now, campaignId, type: 'recipient.corrected', recipientId, data });
  }
  if (events.length === 0) return;
  await tx
    .updateTable('campaigns')
    .set((eb) => ({
      rows_total: eb('rows_total', '+', rows.length),
      rows_rejected: eb('rows_rejected', '-', accepted),
    }))
    .where('campaign_id', '=', campaignId)
    .execute();
  const data = { added: rows.length, corrected: events.length - rows.length, withdrawn: 0 };
  await appendEvents(tx, [...events, { at: now, campaignId, type: 'campaign.edited', data }]);
}

async function correct(
  tx: Queries,
  row: UploadRow,
  target: RecipientRow,
  { takesBack }: Extract<EditVerdict, { kind: 'correct' }>,
  key: string | null,
  now: number,
): Promise<void> {
  const numberChanged = row.e164 !== target.e164;
  // What was called before was another number: this one has its attempts before it, and no retry to wait for.
  const isFresh = takesBack === 'undialable' && numberChanged;
  const posted = target.tier === 0 && !isFresh;
  // A retry waits as long as it would have; who was not called yet may be due at another hour now.
  const dueAt = Math.max(row.notBefore ?? 0, posted ? target.due_at : 0);
  if (takesBack !== null) await requeueRecipient(tx, target.campaign_id, { ...target, posted }, dueAt, now);
  await tx
    .updateTable('recipients')
    .set({
      ...listColumnsOf(row),
      words_key: key,
      due_at: dueAt,
      changed_at: now,
      ...(numberChanged ? { caller: null } : {}),
      ...(isFresh ? { counted: 0, uncounted_in_row: 0, budget_from: target.attempts } : {}),
    })
    .where('recipient_id', '=', target.recipient_id)
    .execute();
}
