import { isSupportedCountry } from 'libphonenumber-js/max';
import { z } from 'zod';
import { encodingNames, readEncoding } from '../../../shared/input/encoding.ts';
import { isTimeZoneName } from '../../../rules/hours/time-zone.ts';
import { rowFields } from '../../../list/row-fields.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { duration, readBy, text, textShape, shapeOf, type SettingGroup, type Written } from '../../../shared/input/setting.ts';

const delimiterFix = 'write one character in quotes, such as "," or ";" or "\\t"';
const delimiter = z.string({ error: delimiterFix }).regex(/^[\t!#-/:-@[-`{-~]$/, { error: delimiterFix });

const region = readBy((value) => {
  const code = typeof value === 'string' ? value.trim().toUpperCase() : '';
  return isSupportedCountry(code) ? code : null;
}, 'write a two-letter country code such as US or GB').meta({ type: 'string', pattern: '^[A-Za-z]{2}$' });

const zone = readBy(
  (value) => (typeof value === 'string' && isTimeZoneName(value) ? value : null),
  'write the name of a time zone such as America/New_York',
).meta(textShape);

const encoding = readBy((value) => (typeof value === 'string' ? readEncoding(value) : null), `write ${encodingNames}`).meta(textShape);
const columnFix = 'write the name of a column of the list';
const columnsFix = 'write the names of columns in a list, such as [permission_level]';

// prettier-ignore
const settings = {
  file: { schema: text('write the path of the list (CSV or .xlsx), relative to this campaign file', 4096),
    help: 'Path of the list (CSV or .xlsx), relative to this file.' },
  delimiter: { schema: delimiter.optional(), help: 'What separates the columns, such as ";". Found when left out.' },
  sheet: { schema: text('write the name of a sheet of the workbook', 100).optional(),
    help: 'Sheet of a workbook; the first one when left out.' },
  encoding: { schema: encoding.optional(), help: 'Encoding of a CSV file that is neither UTF-8 nor UTF-16, such as windows-1252.' },
  ...rowFields,
  not_consent: { schema: z.array(text(columnFix, 1000), { error: columnsFix }).optional(), label: 'Something else than consent',
    help: 'Columns that look like consent and are something else.',
    form: { part: 'columns', between: /\n/, isList: true } },
  fallback_timezone: { schema: zone.optional(), label: 'Time zone of everyone else',
    help: 'Time zone used when nothing else gives one for a recipient.',
    form: { part: 'columns', hint: 'For numbers that tell no zone. Empty: they are not called.' } },
  default_region: { schema: region.optional(), label: 'Country of numbers without +',
    help: 'Country of numbers without + where no column says it, such as US.',
    form: { part: 'columns', hint: 'A number without + and without a known country is never called.' } },
  unknown_ranges: { schema: z.literal(['reject', 'call'], { error: 'write reject or call' }).default('reject'),
    help: 'call: North American numbers with + are called although the numbering data does not have their area code.' },
} as const satisfies SettingGroup;
const list = z.strictObject(shapeOf(settings), { error: 'write a mapping with at least file: and phone:' });

const openFix = 'write stays_open: { expires_after: 2h }';
// prettier-ignore
const staysOpen = {
  expires_after: { schema: duration(60_000).optional(), help: 'So long after it was added, a row is not dialled any more.' },
  newest_first: { schema: z.boolean({ error: 'write true or false' }).default(false),
    help: 'true: rows that are added are called before other first calls, the newest first.' },
} as const satisfies SettingGroup;

// prettier-ignore
export const listSettings = {
  list: { schema: list, help: 'The recipients.', settings },
  stays_open: { schema: z.strictObject(shapeOf(staysOpen), { error: openFix }).optional(), settings: staysOpen,
    help: 'The campaign waits for rows that are added, until it is drained or ends_at.' },
} as const satisfies SettingGroup;

export function staysOpenRules({ stays_open: written }: Written<typeof listSettings>): Pick<CampaignRules, 'staysOpen'> {
  if (written === undefined) return {};
  return { staysOpen: { expiresAfterMs: written.expires_after ?? null, newestFirst: written.newest_first } };
}
