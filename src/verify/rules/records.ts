import type { AuditState } from '../book.ts';
import type { AuditedRules, ValueRule } from '../judged-rules.ts';
import type { AttemptRow } from '../reader.ts';

/** Only what the audit reads. */
interface Facts {
  direction?: string | null;
  calleeNumber?: string | null;
  batchId?: string | null;
  references?: readonly string[];
  openingLine?: string | null;
  callResult?: string | null;
  status?: string | null;
  userTurns?: number;
  agentTurns?: number;
  collected?: Record<string, unknown> | null;
  evaluation?: Record<string, unknown> | null;
  /** False: the record states that it has no analysis. */
  analysed?: boolean;
  startedAt?: number | null;
  endedAt?: number | null;
  durationMs?: number | null;
}

/** Null: none yet. */
function finalFacts({ state, final, facts }: AttemptRow): Facts | null {
  return state === 'settled' && final === 1 && facts !== null ? (JSON.parse(facts) as Facts) : null;
}

/** Null: no contradiction, or an operator gave the call up. */
export function recordAgainst(rules: AuditedRules, row: AttemptRow): string | null {
  const { disposition } = row;
  const facts = finalFacts(row);
  // A record of doubtful ownership may belong to a call in doubt.
  if (facts === null || disposition === 'unknown') return null;
  if (hearsOptOut(rules, facts)) return disposition === 'opted_out' ? null : 'that the person asked not to be called again';
  const { callResult = null, userTurns = 0, agentTurns = 0 } = facts;
  // The service's own fields may decide otherwise.
  if (rules.dispositions.length > 0) return null;
  const talk = disposition === 'answered' || disposition === 'opted_out';
  if (userTurns > 0 && (callResult === null || callResult === 'answered') && !talk) return 'that a person spoke';
  const isUnreached = callResult === 'busy' || callResult === 'no_answer' || callResult === 'voicemail';
  if (disposition === 'answered' && isUnreached) return callResult;
  const isSilent = callResult === null && userTurns + agentTurns === 0;
  return disposition === 'answered' && isSilent ? 'that nobody spoke' : null;
}

function hearsOptOut({ optOut }: AuditedRules, facts: Facts): boolean {
  return optOut.some((rule) => matchesValue(facts, rule));
}

function matchesValue({ collected, evaluation }: Facts, { source, key, values }: ValueRule, valueOf = plain): boolean {
  const actual = valueOf((source === 'collected' ? collected : evaluation)?.[key]);
  return actual !== null && values.some((value) => plain(value) === actual);
}

/** By the call's own record; null: no talk, or nothing final yet. */
export function resultBy({ results, unwrapOnce }: AuditedRules, row: AttemptRow): { result: string; asks: string | null } | null {
  const facts = results.length === 0 || row.disposition !== 'answered' ? null : finalFacts(row);
  if (facts === null || (facts.userTurns ?? 0) === 0) return null;
  const { durationMs, startedAt, endedAt, status } = facts;
  // The service was still analysing when the record was given up, so its values may change.
  const isUnderWay = status != null && status !== 'done' && status !== 'failed';
  const usableFacts = isUnderWay ? { ...facts, collected: null, evaluation: null } : facts;
  const lasted = durationMs ?? (startedAt == null || endedAt == null ? 0 : endedAt - startedAt);
  for (const { result, value, talkUnderMs, next } of results) {
    const isShort = talkUnderMs === null || (lasted > 0 && lasted < talkUnderMs);
    if (isShort && (value === null || matchesValue(usableFacts, value, unwrapOnce ? asText : plain)))
      return { result, asks: next?.kind ?? null };
  }
  const hasValueRules = results.some(({ value }) => value !== null);
  const isBare = (usableFacts.collected == null && usableFacts.evaluation == null) || (unwrapOnce && usableFacts.analysed === false);
  return { result: hasValueRules && isBare ? 'none' : 'other', asks: null };
}

/** A stored value, bare or still wrapped, as comparable text. */
function plain(value: unknown): string | null {
  const inner =
    typeof value === 'object' && value !== null ? ('value' in value ? value.value : 'result' in value ? value.result : null) : value;
  return asText(inner);
}

function asText(value: unknown): string | null {
  if (typeof value === 'string') return value.trim().toLowerCase();
  return typeof value === 'boolean' || typeof value === 'number' ? String(value) : null;
}

export type Whose = Pick<Facts, 'calleeNumber' | 'batchId' | 'references'>;
/** A call that claims the record. */
export type Owner = Pick<AttemptRow, 'id' | 'batch_id' | 'e164'>;

/** The call that a record names by an echoed reference of this database. */
export function namedBy({ ledgerId }: AuditState, references: readonly string[]): string | undefined {
  const prefix = `${ledgerId}:`;
  return references.find((text) => text.startsWith(prefix))?.slice(prefix.length);
}

/** Why a record is not this call's; null: it may be. */
export function disownedBy(state: AuditState, record: Whose, owner: Owner): string | null {
  const { calleeNumber = null, batchId = null, references = [] } = record;
  const named = namedBy(state, references);
  if (named !== undefined && named !== owner.id) return `it names call ${named}`;
  if (calleeNumber !== null && calleeNumber !== owner.e164) return 'it shows another number';
  const batch = state.serviceBatches.get(batchId ?? '') ?? owner.batch_id;
  return batch === owner.batch_id ? null : `it names batch ${batch}`;
}

/** Like `disownedBy`, for a stored record, which must also show the evidence of its match. */
export function misplacedBy(state: AuditState, row: AttemptRow): string | null {
  if (row.facts === null) return null;
  const facts = JSON.parse(row.facts) as Facts;
  if (facts.direction === 'inbound') return 'it is an inbound call';
  const against = disownedBy(state, facts, row);
  if (against !== null) return against;
  const { evidence, opening_line: line } = row;
  const [isNamed, isNumber] = [namedBy(state, facts.references ?? []) !== undefined, facts.calleeNumber != null];
  if (evidence === 'reference' && !isNamed) return 'it names no call';
  if ((evidence === 'number' || evidence === 'batch_and_number') && !isNumber) return 'it shows no number';
  if (evidence !== 'opening_line') return null;
  if (facts.openingLine == null) return 'it shows no words';
  const [shown, own] = [lettersOf(facts.openingLine), lettersOf(line ?? '')];
  return shown.startsWith(own) || own.startsWith(shown) ? null : 'it begins with other words';
}

/** Letters and digits of a line; services may change the rest. */
function lettersOf(line: string): string {
  return line
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]/gu, '');
}
