import type { CampaignRules } from '../rules/campaign-rules.ts';
import { isYes } from '../rules/consent.ts';
import { describeSpreadsheetError, instantForms, readInstant } from '../shared/input/cells.ts';
import { quoteCell } from '../shared/input/printable.ts';
import type { CellOf } from './row-place.ts';

/** The zone in which a date begins first. */
const firstClock = 'Pacific/Kiritimati';

type ConsentReading = { ok: true; consentedAt: number | null } | { ok: false; column: string; hint: string };

/**
 * Reads a row's consent, which needs time, source, text and, if the campaign has one, a matching purpose. A time without zone counts as the
 * earliest possible.
 */
export function readConsent({ consent, purpose }: CampaignRules, cell: CellOf, zones: readonly string[]): ConsentReading {
  if (consent === undefined) return { ok: true, consentedAt: null };
  const { yesColumn = null, atColumn, sourceColumn, textColumn, purposeColumn } = consent;
  const needed = [yesColumn, atColumn, sourceColumn, textColumn, purposeColumn].filter((column) => column !== null);
  for (const column of needed) {
    const damage = describeSpreadsheetError(cell(column));
    if (damage !== null) return { ok: false, column, hint: damage };
    if (cell(column) === '')
      return { ok: false, column, hint: `no consent without it; fill in ${quoteCell(column)}, or leave the row out` };
  }
  if (yesColumn !== null && !isYes(cell(yesColumn)))
    return { ok: false, column: yesColumn, hint: `${quoteCell(cell(yesColumn))} is no yes, so there is no consent; leave the row out` };
  const written = cell(consent.atColumn);
  const readings = (zones.length === 0 ? [firstClock] : zones).map((zone) => readInstant(written, 'start', [zone]));
  if (readings.includes(null))
    return { ok: false, column: consent.atColumn, hint: `${quoteCell(written)} is no date and time; ${instantForms}` };
  const given = consent.purposeColumn === null ? purpose : cell(consent.purposeColumn);
  if (given !== purpose) {
    const hint = `the consent is for ${quoteCell(given ?? '')}, and the campaign for ${quoteCell(purpose ?? '')}; leave the row out`;
    return { ok: false, column: consent.purposeColumn ?? '', hint };
  }
  return { ok: true, consentedAt: Math.min(...readings.map(Number)) };
}
