import { z } from 'zod';
import { purposeWord } from '../../campaign/file/settings/consent.ts';
import { instant } from './common.ts';

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
const checkSuppressionsBody = z.object({ numbers, region });

export const suppression = z
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
const addedSuppressions = z.object({ added: z.int(), known: z.int() });
const removedSuppressions = z.object({ removed: z.int(), unknown: z.int() });
const checkedNumbers = z.object({
  numbers: z.array(z.object({ e164: z.string(), suppressed: z.boolean(), entries: z.array(suppression) })),
});

const suppressionQuery = z.object({
  campaign: z.string().min(1).optional(),
  after: z.string().max(300).optional().describe('`next` of the page before.'),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});

/** Of the do-not-call list. A campaign that is named in a body or a query may be unknown (404). */
export const suppressionShapes = {
  listSuppressions: { query: suppressionQuery, answer: suppressionPage, refuses: [404] },
  addSuppressions: { body: addSuppressionsBody, answer: addedSuppressions, refuses: [404] },
  importSuppressions: {
    files: ['numbers'],
    query: importSuppressionsQuery,
    answer: importedSuppressions,
    refuses: [404],
  },
  removeSuppressions: { body: removeSuppressionsBody, answer: removedSuppressions, refuses: [404] },
  checkSuppressions: { body: checkSuppressionsBody, answer: checkedNumbers, refuses: [422] },
} as const;
