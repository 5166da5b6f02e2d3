import type { JudgedRules } from './judged-rules.ts';
import type { Found } from './log-rules.ts';
import type { AttemptRow } from './reader.ts';

/** What the judge reads of the facts of a record, as the tables keep them. */
interface Facts {
  callResult?: string | null;
  userTurns?: number;
  agentTurns?: number;
  collected?: Record<string, unknown> | null;
  evaluation?: Record<string, unknown> | null;
}

/** Whether a call ended otherwise than the record that it owns says. Where a person gave a call up, the record has no say. */
export function judgeRecord(rules: JudgedRules, row: AttemptRow): Found {
  if (row.state !== 'settled' || row.final !== 1 || row.facts === null) return [];
  const { disposition, attempt_id: attemptId } = row;
  // Doubt about whose record it is may stand beside it.
  if (disposition === 'unknown') return [];
  const facts = JSON.parse(row.facts) as Facts;
  const contradicts = (says: string): Found => [
    ['record_contradicts', `call ${attemptId} ended as ${disposition}, and its record says ${says}`],
  ];
  if (hearsOptOut(rules, facts))
    return disposition === 'opted_out' ? [] : contradicts('that the person asked not to be called again');
  const { callResult = null, userTurns = 0, agentTurns = 0 } = facts;
  // Fields of the service's own may say something else.
  if (rules.ruledDispositions) return [];
  const talk = disposition === 'answered' || disposition === 'opted_out';
  if (userTurns > 0 && (callResult === null || callResult === 'answered') && !talk)
    return contradicts('that somebody spoke');
  const nobody = callResult === 'busy' || callResult === 'no_answer' || callResult === 'voicemail';
  if (disposition === 'answered' && nobody) return contradicts(callResult);
  if (disposition === 'answered' && callResult === null && userTurns + agentTurns === 0)
    return contradicts('that nobody spoke');
  return [];
}

function hearsOptOut({ optOut }: JudgedRules, { collected, evaluation }: Facts): boolean {
  return optOut.some(({ source, key, values }) => {
    const said = plain((source === 'collected' ? collected : evaluation)?.[key]);
    return said !== null && values.some((value) => plain(value) === said);
  });
}

/** A value as it may stand, bare or wrapped, as comparable text. */
function plain(value: unknown): string | null {
  if (typeof value === 'object' && value !== null)
    return plain('value' in value ? value.value : 'result' in value ? value.result : null);
  if (typeof value === 'string') return value.trim().toLowerCase();
  return typeof value === 'boolean' || typeof value === 'number' ? String(value) : null;
}
