import { z } from 'zod';
import { purposeWord } from '../campaign/file/settings/consent.ts';
import { instant } from './fields.ts';
import { ask, change, read, under } from './operation.ts';

const numbers = z
  .array(z.string().min(1).max(100))
  .min(1)
  .max(1000)
  .meta({ description: 'E.164, or as people of `region` write them.', examples: [['+12125550100']] });

const region = z
  .string()
  .length(2)
  .toUpperCase()
  .optional()
  .meta({ description: 'Country of numbers without +.', examples: ['US'] });

const campaign = z.string().min(1).optional().describe('Only for this campaign; left out: for all campaigns of the database.');

const purpose = purposeWord
  .optional()
  .meta({ description: 'Consent for this purpose alone, in all campaigns of the database; not with `campaign`.', examples: ['marketing'] });

const addSuppressionsBody = z.object({
  numbers: numbers.optional(),
  person: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe('In place of `numbers`: every number that any list has under this id of yours, or key of a person.'),
  region,
  campaign,
  purpose,
  reason: z.string().max(1000).optional(),
  expiresAt: instant.optional().describe('Left out: for ever.'),
});

const importSuppressionsQuery = z.object({
  region,
  column: z.string().min(1).max(200).optional().describe('Column of the numbers; left out: the only one there is.'),
  campaign,
  expires_at: addSuppressionsBody.shape.expiresAt,
});

const importedSuppressions = z.object({
  rows: z.int(),
  added: z.int(),
  known: z.int().describe('Stood there already.'),
  repeated: z.int().describe('Repeat a number of the file.'),
  bad: z.int().describe('Are not phone numbers, and protect no one.'),
  badLines: z.array(z.int()).describe('The first of them, as lines of the file.'),
});

const removeSuppressionsBody = z.object({
  numbers,
  region,
  campaign,
  purpose,
  consentedAt: instant
    .optional()
    .describe('With `purpose`: when the newer consent was given. One that is older than the entry lifts nothing (422).'),
});

const suppression = z
  .object({
    e164: z.string(),
    scope: z.string().describe('`account`, the id of a campaign, or `purpose:` and the word for which consent was taken back.'),
    source: z.string(),
    reason: z.string().nullable(),
    createdAt: instant,
    expiresAt: instant.nullable(),
  })
  .meta({ id: 'Suppression' });

const suppressionPage = z.object({ suppressions: z.array(suppression), next: z.string().nullable() });
const checkedNumbers = z.object({
  numbers: z.array(z.object({ e164: z.string(), suppressed: z.boolean(), entries: z.array(suppression) })),
});

const suppressionQuery = z.object({
  campaign: z.string().min(1).optional(),
  after: z.string().max(300).optional().describe('`next` of the page before.'),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});
/** A campaign in a body or query may be unknown (404). */
export const suppressionOperations = under('do-not-call', {
  listSuppressions: read('GET /suppressions', 'operate', 'List the do-not-call list, by number', {
    query: suppressionQuery,
    answer: suppressionPage,
    refuses: [404],
  }),
  addSuppressions: change('POST /suppressions', 'operate', 'Put numbers on the do-not-call list', {
    more: 'Calls that are planned are stopped too. An entry is never shortened.',
    action: 'suppressions_added',
    body: addSuppressionsBody,
    answer: z.object({ added: z.int(), known: z.int() }),
    refuses: [404],
  }),
  importSuppressions: change(
    'POST /suppressions/import',
    'operate',
    'Put the numbers of a file on the do-not-call list, all of them or none',
    {
      more: 'CSV or a workbook, of any length. Lines that are no number are left out and counted.',
      action: 'suppressions_imported',
      files: ['numbers'],
      query: importSuppressionsQuery,
      answer: importedSuppressions,
      refuses: [404],
    },
  ),
  removeSuppressions: change('POST /suppressions/remove', 'admin', 'Allow calls to numbers again', {
    more: 'Somebody may have asked not to be called.',
    action: 'suppressions_removed',
    body: removeSuppressionsBody,
    answer: z.object({ removed: z.int(), unknown: z.int() }),
    refuses: [404],
  }),
  checkSuppressions: ask('POST /suppressions/check', 'read', 'Check whether and why numbers are not called; changes nothing', {
    body: z.object({ numbers, region }),
    answer: checkedNumbers,
    refuses: [422],
  }),
});
