import { followCorrection } from './callbacks.ts';
import { findCampaign, type Campaign } from '../rows/campaigns.ts';
import { refuseUnlessEditable, refuseUnlessFixable } from './edit-refusal.ts';
import {
  validateEdit,
  validateFix,
  type EditFailure,
  type EditVerdict,
  type EditRow,
  findHolders,
  findOpen,
  findRows,
  findTargets,
  findWaiting,
  lastRow,
} from './edit-verdict.ts';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import type { NewEvent } from '../../rules/events.ts';
import { appendEvents } from '../events.ts';
import { listColumnsOf, recipientOf } from '../campaign/import-campaign.ts';
import { lockedTransaction } from '../locks.ts';
import { refusedEdit, sparingOthers } from '../rows/row-fault.ts';
import type { Queries, Tx, Store } from '../tx.ts';
import { requeueRecipient } from '../rows/recipients.ts';
import { forgetOrders } from '../rows/list-order.ts';
import { laterTermsOf, rankOf } from '../rows/row-terms.ts';
import { partsOf } from '../parts.ts';
import { rowHasher } from '../campaign/row-hash.ts';
import { wordsKeysOf } from '../words-key.ts';
import { updateCampaign, updateRecipient } from '../updates.ts';
import type { RecipientRow } from '../schema.ts';

export interface EditResult {
  /** Data row of the upload, from 1. */
  row: number;
  result: 'accepted' | 'corrected' | 'unchanged' | 'failed';
  code: EditFailure | null;
  hint: string | null;
  /** Campaign row number, as in the results; null: none. */
  campaignRow: number | null;
}

export interface EditOptions {
  campaignId: string;
  /** Restores withdrawn rows that the upload contains. */
  restore: boolean;
  dryRun: boolean;
  /** Only adds rows; known ids stay as they are. */
  adds?: true;
  /** Corrects only rejected rows, matched by row number; also after the campaign's end. */
  fixes?: true;
}

/** Rows that may wait for a number given up later in the file. */
const mostDeferred = 50_000;
/** Rows that may swap numbers in a cycle. */
const mostAtOnce = 5_000;
const rowsPerPart = 500;

interface ValidatedRow {
  row: EditRow;
  target: RecipientRow | undefined;
  verdict: EditVerdict;
}

/** Each part of an upload is one transaction that rereads open calls. `finish` returns the rows that had to wait. */
export class RecipientEditor {
  readonly #store: Store;
  readonly #options: EditOptions;
  readonly #deferred: EditRow[] = [];
  /** Changes of a dry run so far: recipients whose number is freed, and rows added. */
  readonly #freed = new Set<string>();
  #added = 0;

  constructor(store: Store, options: EditOptions) {
    this.#store = store;
    this.#options = options;
  }

  async apply(rows: readonly EditRow[], now: number): Promise<EditResult[]> {
    const mayWait = this.#deferred.length + rows.length <= mostDeferred;
    return this.#run(rows, mayWait, now);
  }

  findWaiting(externalIds: readonly string[]): Promise<Map<string, number>> {
    return findWaiting(this.#store.db, this.#options.campaignId, externalIds);
  }

  async finish(now: number): Promise<EditResult[]> {
    const results: EditResult[] = [];
    // In a list shifted by one row, the last row frees its number first.
    for (let rows = this.#deferred.splice(0); rows.length > 0;) results.push(...(await this.#run(rows.splice(-rowsPerPart), true, now)));
    // The remaining rows swap numbers in a cycle, or conflict.
    for (let rows = this.#deferred.splice(0); rows.length > 0;) results.push(...(await this.#run(rows.splice(0, mostAtOnce), false, now)));
    return results;
  }

  async #run(rows: readonly EditRow[], mayWait: boolean, now: number): Promise<EditResult[]> {
    const refuse = async ({ row }: EditRow): Promise<EditResult[]> => [{ row, ...refusedEdit }];
    return sparingOthers(rows, (some) => this.#runTogether(some, mayWait, now), refuse);
  }

  async #runTogether(rows: readonly EditRow[], mayWait: boolean, now: number): Promise<EditResult[]> {
    const { campaignId, dryRun, fixes } = this.#options;
    const validate = async (db: Queries) => {
      const campaign = await findCampaign(db, campaignId);
      if (fixes) refuseUnlessFixable(campaign, now);
      else refuseUnlessEditable(campaign, now);
      return { campaign, judged: await this.#judge(db, campaign, rows, now), first: (await lastRow(db, campaignId)) + 1 };
    };
    if (dryRun) {
      const { judged, first } = await validate(this.#store.db);
      const answers = this.#answer(judged, first + this.#added, mayWait);
      for (const { target, verdict } of judged) {
        if (verdict.kind === 'add') this.#added += 1;
        else if (claimsNumber(verdict) && target !== undefined) this.#freed.add(target.recipient_id);
      }
      return answers;
    }
    const { judged, first } = await lockedTransaction(this.#store, campaignId, async (tx) => {
      const seen = await validate(tx);
      await write(tx, { ...seen, now });
      return seen;
    });
    return this.#answer(judged, first, mayWait);
  }

  async #judge(db: Queries, { rules }: Campaign, rows: readonly EditRow[], now: number): Promise<ValidatedRow[]> {
    const { campaignId, restore, fixes, adds } = this.#options;
    const targets = await findTargets(db, campaignId, rows);
    if (fixes) {
      const known = await findRows(db, campaignId, rows.map(({ row }) => row)); // prettier-ignore
      const validated = rows.map((row): ValidatedRow => {
        const target = known.get(row.row);
        return { row, target, verdict: validateFix(row, target, targets.get(row.externalId ?? '')) };
      });
      return this.#refuseTakenNumbers(db, validated);
    }
    const ids = [...targets.values()].map((target) => target.recipient_id);
    const open = await findOpen(db, ids);
    const validated = rows.map((written): ValidatedRow => {
      const target = targets.get(written.externalId ?? '');
      const row = withExpiry(written, target, { rules, now });
      if (adds && target !== undefined) return { row, target, verdict: { kind: 'unchanged' } };
      const isOpen = target !== undefined && open.has(target.recipient_id);
      return { row, target, verdict: validateEdit(row, target, { isOpen, restore }) };
    });
    return this.#refuseTakenNumbers(db, validated);
  }

  /** A number belongs to one row; a number freed in the same part is available. */
  async #refuseTakenNumbers(db: Queries, validated: readonly ValidatedRow[]): Promise<ValidatedRow[]> {
    const claims = validated.filter(({ verdict }) => claimsNumber(verdict));
    const numbers = claims.map(({ row }) => row.e164);
    const holders = await findHolders(db, this.#options.campaignId, numbers);
    const freed = new Set(this.#freed);
    for (const { target } of claims) if (target !== undefined) freed.add(target.recipient_id);
    const refused = new Map<EditRow, number>();
    // A refused row keeps its own number, which may refuse another row.
    for (let before = -1; before !== refused.size;) {
      before = refused.size;
      for (const { row, target } of claims) {
        const holder = holders.get(row.e164);
        if (refused.has(row) || holder === undefined || holder.id === target?.recipient_id || freed.has(holder.id)) continue;
        refused.set(row, holder.row);
        if (target !== undefined) freed.delete(target.recipient_id);
      }
    }
    return validated.map((one) => {
      const holder = refused.get(one.row);
      return holder === undefined ? one : { ...one, verdict: duplicateOf(holder) };
    });
  }

  #answer(validated: readonly ValidatedRow[], firstAdded: number, mayWait: boolean): EditResult[] {
    let next = firstAdded;
    const results: EditResult[] = [];
    for (const { row, target, verdict } of validated) {
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

/** In a campaign that stays open, an added row expires; a corrected one without an expiry keeps its old one. */
function withExpiry(
  row: EditRow,
  target: RecipientRow | undefined,
  { rules: { staysOpen }, now }: { rules: Pick<CampaignRules, 'staysOpen'>; now: number },
): EditRow {
  if (staysOpen?.expiresAfterMs == null || row.expiresAt != null) return row;
  return { ...row, expiresAt: target === undefined ? now + staysOpen.expiresAfterMs : target.expires_at };
}

/** In the newest-first lane the newest row has been due for longest. */
function laneOf({ rules: { staysOpen } }: Campaign, row: EditRow, number: number): { rank?: number; due_at?: number } {
  if (staysOpen?.newestFirst !== true) return {};
  return { ...(row.priority == null && { rank: 1 }), ...(row.notBefore == null && { due_at: -number }) };
}

/** In the newest-first lane: other first calls have this rank only by explicit priority. */
function isInLane(row: RecipientRow): boolean {
  return row.called === 0 && row.rank === 1 && laterTermsOf(row).priority == null;
}

function claimsNumber(verdict: EditVerdict): boolean {
  return verdict.kind === 'add' || (verdict.kind === 'correct' && verdict.claimsNumber);
}

function duplicateOf(row: number): EditVerdict {
  const hint = `row ${row} of the campaign has the same number; each number is dialled for one row only`;
  return { kind: 'failed', code: 'duplicate_phone', hint };
}

interface Writing {
  campaign: Campaign;
  judged: readonly ValidatedRow[];
  first: number;
  now: number;
}

async function write(tx: Tx, { campaign, judged, first, now }: Writing): Promise<void> {
  const { campaignId, rules } = campaign;
  const keyOf = wordsKeysOf(rules);
  const hashed = await rowHasher(tx);
  const events: NewEvent[] = [];
  const added = judged.flatMap(({ row, verdict }) => (verdict.kind === 'add' ? [row] : []));
  const rows = added.map((row, index) => {
    const number = first + index;
    const recipient = { ...recipientOf({ ...row, row: number }, { campaignId, keyOf, now }), ...laneOf(campaign, row, number) };
    const { recipient_id: recipientId } = recipient;
    const data = hashed(recipientId, row);
    events.push({ at: now, campaignId, type: 'recipient.added', recipientId, data });
    return recipient;
  });
  for (const part of partsOf(rows)) await tx.insertInto('recipients').values(part).execute();
  let accepted = 0;
  for (const { row, target, verdict } of judged) {
    if (verdict.kind !== 'correct' || target === undefined) continue;
    const { takesBack: outcome } = verdict;
    const { recipient_id: recipientId } = target;
    const numberChanged = row.e164 !== target.e164;
    const lane = isInLane(target) ? laneOf(campaign, row, target.row_number) : {};
    await correct(tx, target, { row, outcome, numberChanged, key: keyOf(row.cells), lane, now });
    if (target.promise_id !== null) await followCorrection(tx, campaign, recipientId, now);
    if (outcome === 'rejected') accepted += 1;
    const data = { outcome, numberChanged, ...hashed(recipientId, row) };
    events.push({ at: now, campaignId, type: 'recipient.corrected', recipientId, data });
  }
  if (events.length === 0) return;
  await forgetOrders(tx, campaignId);
  await updateCampaign(tx, campaignId, {
    rows_total: campaign.rowsTotal + rows.length,
    rows_rejected: campaign.rowsRejected - accepted,
  });
  const data = { added: rows.length, corrected: events.length - rows.length, withdrawn: 0 };
  await appendEvents(tx, [...events, { at: now, campaignId, type: 'campaign.edited', data }]);
}

interface Correction {
  row: EditRow;
  outcome: Extract<EditVerdict, { kind: 'correct' }>['takesBack'];
  numberChanged: boolean;
  /** Words key. */
  key: string | null;
  /** Queue position, if added by request and not called yet. */
  lane: ReturnType<typeof laneOf>;
  now: number;
}

async function correct(tx: Tx, target: RecipientRow, { row, outcome, numberChanged, key, lane, now }: Correction): Promise<void> {
  // Earlier calls went to another number: the new one gets a full budget and no retry delay.
  const isFresh = outcome === 'undialable' && numberChanged;
  const called = isFresh ? 0 : target.called;
  // A retry keeps its delay; a row not called yet may be due at another hour now.
  const dueAt = Math.max(row.notBefore ?? 0, called === 1 ? target.due_at : 0);
  const { recipient_id: recipientId, campaign_id: campaignId } = target;
  if (outcome !== null) await requeueRecipient(tx, { campaignId, now }, { ...target, dueAt });
  await updateRecipient(tx, recipientId, {
    ...listColumnsOf(row),
    words_key: key,
    taken_out_at: null,
    called,
    rank: rankOf(called, row),
    due_at: dueAt,
    ...lane,
    changed_at: now,
    ...(numberChanged ? { caller: null } : {}),
    ...(isFresh ? { counted: 0, uncounted_in_row: 0, budget_from: target.attempts } : {}),
  });
}
