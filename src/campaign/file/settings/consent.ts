import { z } from 'zod';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { theColumn } from '../../../rules/columns.ts';
import { duration, shapeOf, text, type SettingGroup, type Written } from '../../../shared/input/setting.ts';

const consentFix = 'write consent: { at: consent_at, source: consent_source, text: consent_text }';
const column = text('write the name of a column of the list', 1000);

// prettier-ignore
const consent = {
  yes: { schema: column.optional(), help: 'Column that must say yes. A row that does not say so has no consent.',
    label: 'Consent: yes or no', form: { part: 'columns', hint: 'People without a yes are not called.' } },
  at: { schema: column, help: 'Column of the time at which the person agreed.',
    label: 'Consent: when it was given', form: { part: 'columns', hint: 'A date, or a date and time.' } },
  source: { schema: column.optional(), help: 'Column that says where: a form, paper, the id of a call.',
    label: 'Consent: where it was given', form: { part: 'columns', hint: 'Such as a form, or the ID of a call.' } },
  text: { schema: column.optional(), help: 'Column of the words that were agreed to, or of the id of their version.',
    label: 'Consent: what it says', form: { part: 'columns', hint: 'Its words, or the ID of their version.' } },
  source_of_list: { schema: text('write where the consents of the list were given', 1000).optional(),
    help: 'Where all consents of the list were given, with yes and instead of source.',
    label: 'Where everyone gave consent', form: { part: 'columns', hint: 'Only if no column says it, such as “web form, spring 2026”.' } },
  text_of_list: { schema: text('write the words that were agreed to', 4000).optional(),
    help: 'The words that all people of the list agreed to, with yes and instead of text.',
    label: 'What everyone agreed to', form: { part: 'columns', hint: 'Only if no column says it.' } },
  proof: { schema: column.optional(), help: 'Column of a hash or an address of what was shown. It may be empty.' },
  purpose: { schema: column.optional(), help: 'Column of what the consent is for; it must say the purpose of the campaign.' },
  max_age: { schema: duration(60_000).optional(), help: 'Older than this when it is to be dialled, a consent does not hold.' },
} as const satisfies SettingGroup;

const purposeFix = 'write a word of small letters, digits and _, at most 40, beginning with a letter, such as appointment_reminder';
export const purposeWord = z.string({ error: purposeFix }).regex(/^[a-z][a-z0-9_]{0,39}$/, { error: purposeFix });

// prettier-ignore
export const consentSettings = {
  purpose: { schema: purposeWord.optional(),
    help: 'What the calls are for, as one word of yours. Whoever takes back consent for it is not called.' },
  consent: { schema: z.strictObject(shapeOf(consent), { error: consentFix }).optional(), settings: consent,
    help: 'Columns of the list that tell of the consent of each row; a row without is rejected.' },
} as const satisfies SettingGroup;

export const consentColumns = ['yes', 'at', 'source', 'text', 'proof', 'purpose'] as const;

/** Source and text come from a column each, or once for the list together with a yes column; never neither or both. */
export function consentProblems(written: Written<typeof consentSettings>['consent']): { path: PropertyKey[]; fix: string }[] {
  if (written === undefined) return [];
  return (['source', 'text'] as const).flatMap((key) => {
    const ofList = `${key}_of_list` as const;
    if (written[key] !== undefined && written[ofList] !== undefined)
      return [{ path: ['consent', ofList], fix: `leave it out, or leave out consent.${key}: one of the two says it` }];
    if (written[key] === undefined && written[ofList] === undefined)
      return [{ path: ['consent', key], fix: `name the column of it; or write ${ofList} where consent.yes names a column of yes and no` }];
    if (written[ofList] !== undefined && written.yes === undefined)
      return [
        { path: ['consent', ofList], fix: `name with consent.yes the column that says who agreed, or name the column of consent.${key}` },
      ];
    return [];
  });
}

export function consentRules(
  { purpose, consent: written }: Written<typeof consentSettings>,
  columns: readonly string[],
): Pick<CampaignRules, 'purpose' | 'consent'> {
  const stated = purpose === undefined ? {} : { purpose };
  if (written === undefined) return stated;
  const named = (name: string) => theColumn(name, columns) ?? name;
  const { yes, at, source, text: words, proof, purpose: purposeColumn, max_age: maxAgeMs = null } = written;
  const { source_of_list: sourceOfList, text_of_list: textOfList } = written;
  return {
    ...stated,
    consent: {
      atColumn: named(at),
      sourceColumn: source === undefined ? null : named(source),
      textColumn: words === undefined ? null : named(words),
      ...(yes === undefined ? {} : { yesColumn: named(yes) }),
      ...(sourceOfList === undefined ? {} : { sourceOfList }),
      ...(textOfList === undefined ? {} : { textOfList }),
      proofColumn: proof === undefined ? null : named(proof),
      purposeColumn: purposeColumn === undefined ? null : named(purposeColumn),
      maxAgeMs,
    },
  };
}
