import type { CampaignRules } from '../../src/rules/campaign-rules.ts';
import { RecipientEditor, type EditOptions, type EditResult } from '../../src/ledger/people/edit-recipients.ts';
import type { UploadRow } from '../../src/ledger/people/edit-verdict.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { buildRow, buildRules } from '../support/campaign-rules.ts';
import { noon, numbers } from './scenario.ts';
import type { Store } from '../../src/ledger/tx.ts';
import type { ImportRow } from '../../src/ledger/campaign/row-hash.ts';

const base = buildRules();

/** A list whose third column is the user's own id. */
export const idRules: Partial<CampaignRules> = {
  list: { ...base.list, columns: ['phone', 'name', 'id'], idColumn: 'id' },
};

export const numberOf = (index: number): string => numbers(1, index)[0] ?? '';

export function uploadRow(row: number, id: string, e164: string, name = `Guest ${id}`): UploadRow {
  return { ...buildRow(row, e164, [e164, name, id]), externalId: id };
}

export function listRows(count: number): UploadRow[] {
  return Array.from({ length: count }, (_, index) => uploadRow(index + 1, idOf(index), numberOf(index)));
}

export function idOf(index: number): string {
  return `id${index}`;
}

export function rejectedRow(row: number, id: string, reason: string, e164: string | null = null): ImportRow {
  return {
    ...uploadRow(row, id, e164 ?? ''),
    e164,
    verdict: 'rejected',
    zones: [],
    country: null,
    regions: null,
    reason,
  };
}

export async function upload(
  store: Store,
  rows: readonly UploadRow[],
  options: Partial<EditOptions> = {},
  now = noon,
): Promise<EditResult[]> {
  const editor = new RecipientEditor(store, { campaignId: 'spring', restore: false, dryRun: false, ...options });
  const results = await editor.apply(rows, now);
  return [...results, ...(await editor.finish(now))];
}

export function told(results: readonly EditResult[]): (string | [string, string])[] {
  return results.toSorted((a, b) => a.row - b.row).map(({ result, code }) => (code === null ? result : [result, code]));
}

export async function violations(store: Store) {
  return (await verifyLog(store.db, null)).rules.flatMap((rule) => rule.violations);
}
