import type { JudgedRules } from './judged-rules.ts';
import type { AttemptRow } from './reader.ts';

/** What the judge reads of the facts of a record, as the tables keep them. */
interface Facts {
  callResult?: string | null;
  userTurns?: number;
  agentTurns?: number;
  collected?: Record<string, unknown> | null;
  evaluation?: Record<string, unknown> | null;
}

/**
 * What the record that a call owns says against its end; null: nothing. Where a person gave a call up, the record has no say.
 */
export function recordAgainst(rules: JudgedRules, row: AttemptRow): string | null {
  if (row.state !== 'settled' || row.final !== 1 || row.facts === null) return null;
  const { disposition } = row;
  // Doubt about whose record it is may stand beside it.
  if (disposition === 'unknown') return null;
  const facts = JSON.parse(row.facts) as Facts;
  if (hearsOptOut(rules, facts))
    return disposition === 'opted_out' ? null : 'that the person asked not to be called again';
  const { callResult = null, userTurns = 0, agentTurns = 0 } = facts;
  // Fields of the service's own may say something else.
  if (rules.ruledDispositions) return null;
  const talk = disposition === 'answered' || disposition === 'opted_out';
  if (userTurns > 0 && (callResult === null || callResult === 'answered') && !talk) return 'that somebody spoke';
  const nobody = callResult === 'busy' || callResult === 'no_answer' || callResult === 'voicemail';
  if (disposition === 'answered' && nobody) return callResult;
  const isSilent = callResult === null && userTurns + agentTurns === 0;
  return disposition === 'answered' && isSilent ? 'that nobody spoke' : null;
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
