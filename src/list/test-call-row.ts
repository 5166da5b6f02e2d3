import type { CampaignRules } from '../rules/campaign-rules.ts';
import { ownTerms } from '../rules/row-terms.ts';
import { ListFileError } from '../shared/input/errors.ts';
import type { ListHeader } from './header.ts';
import { readRecipients, type ListRow } from './recipients.ts';
import { readPlace } from './row-place.ts';

export type TestCallRow = Extract<ListRow, { verdict: 'accepted' }>;

/** Rules of one test call: one attempt, at once. Do-not-call list and caps apply, hours and law unless `anyHour`; consent does not. */
export function testCallRules(ofCampaign: CampaignRules, anyHour: boolean): CampaignRules {
  const rules = { ...ofCampaign };
  delete rules.consent;
  return {
    ...rules,
    ...(anyHour ? { calendar: { hours: null, closedOn: [] }, law: [] } : {}),
    startsAt: null,
    retry: {
      ...rules.retry,
      maxAttempts: 1,
      maxAttemptsPerNumber: null,
      resetAfterMs: null,
      maxUncounted: 0,
      delays: { ...rules.retry.delays, unknown: 'never' },
    },
    pacing: { ...rules.pacing, maxConcurrentCalls: 1, batchSize: 1, refillThreshold: 1, warmUpMs: 0, priority: 100 },
    breaker: null,
    onCompletion: null,
    onPause: null,
  };
}

/**
 * The requested or first accepted row with the operator's number in its phone cell: same texts, the number's place, no recipient identity.
 * Throws ListFileError.
 */
export async function readTestCallRow(
  file: { listPath: string },
  header: ListHeader,
  rules: CampaignRules,
  request: { row: number | null; callee: { e164: string; country: string | null } },
): Promise<TestCallRow> {
  const found = await findRow(file, header, rules, request.row);
  const { e164, country } = request.callee;
  // The place comes from the number: the row's cells describe its own recipient.
  const place = readPlace(rules.list, () => '', request.callee);
  if (!place.ok) throw new ListFileError(file.listPath, place.hint);
  const phoneIndex = header.columns.indexOf(rules.list.phoneColumn);
  return {
    ...found,
    cells: found.cells.map((cell, index) => (index === phoneIndex ? e164 : cell)),
    externalId: null,
    e164,
    country,
    zones: place.zones,
    regions: place.regions,
    ...Object.fromEntries(ownTerms.map((term) => [term, null])),
  };
}

async function findRow(
  file: { listPath: string },
  header: ListHeader,
  rules: CampaignRules,
  rowNumber: number | null,
): Promise<TestCallRow> {
  let last = 0;
  for await (const rows of readRecipients(file, header, rules)) {
    for (const row of rows) {
      last = row.row;
      if (rowNumber === null ? row.verdict === 'rejected' : row.row !== rowNumber) continue;
      if (row.verdict === 'accepted') return row;
      const message = `row ${String(row.row)} is rejected (${row.reason}: ${row.hint}); choose another with --row, or fix it`;
      throw new ListFileError(file.listPath, message);
    }
  }
  const isAboutRows = rowNumber === null;
  const message = isAboutRows
    ? `none of its ${String(last)} rows can be dialled`
    : `it has no row ${String(rowNumber)}; its last is row ${String(last)}`;
  throw new ListFileError(file.listPath, message, { isAboutRows });
}
