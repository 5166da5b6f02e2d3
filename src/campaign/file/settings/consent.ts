import { z } from 'zod';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { theColumn } from '../../../rules/columns.ts';
import { duration, shapeOf, text, type SettingGroup, type Written } from './setting.ts';

const consentFix = 'write consent: { at: consent_at, source: consent_source, text: consent_text }';
const column = text('write the name of a column of the list', 1000);

// prettier-ignore
const consent = {
  at: { schema: column, help: 'Column of the time at which the person agreed.' },
  source: { schema: column, help: 'Column that says where: a form, paper, the id of a call.' },
  text: { schema: column, help: 'Column of the words that were agreed to, or of the id of their version.' },
  proof: { schema: column.optional(), help: 'Column of a hash or an address of what was shown. It may be empty.' },
  purpose: { schema: column.optional(), help: 'Column of what the consent is for; it must say the purpose of the campaign.' },
  max_age: { schema: duration(60_000).optional(), help: 'Older than this when it is to be dialled, a consent does not hold.' },
} as const satisfies SettingGroup;

const purposeFix = 'write a word of small letters, digits and _, at most 40, beginning with a letter, such as appointment_reminder';
/** What a campaign is for, as one word. */
export const purposeWord = z.string({ error: purposeFix }).regex(/^[a-z][a-z0-9_]{0,39}$/, { error: purposeFix });

// prettier-ignore
export const consentSettings = {
  purpose: { schema: purposeWord.optional(),
    help: 'What the calls are for, as one word of yours. Whoever takes back consent for it is not called.' },
  consent: { schema: z.strictObject(shapeOf(consent), { error: consentFix }).optional(), settings: consent,
    help: 'Columns of the list that tell of the consent of each row; a row without is rejected.' },
} as const satisfies SettingGroup;

/** The settings of `consent` that name a column. */
export const consentColumns = ['at', 'source', 'text', 'proof', 'purpose'] as const;

/** As frozen, over a list with these columns. */
export function consentRules(
  { purpose, consent: written }: Written<typeof consentSettings>,
  columns: readonly string[],
): Pick<CampaignRules, 'purpose' | 'consent'> {
  const stated = purpose === undefined ? {} : { purpose };
  if (written === undefined) return stated;
  const named = (name: string) => theColumn(name, columns) ?? name;
  const { at, source, text: words, proof, purpose: purposeColumn, max_age: maxAgeMs = null } = written;
  return {
    ...stated,
    consent: {
      atColumn: named(at),
      sourceColumn: named(source),
      textColumn: named(words),
      proofColumn: proof === undefined ? null : named(proof),
      purposeColumn: purposeColumn === undefined ? null : named(purposeColumn),
      maxAgeMs,
    },
  };
}
