import { z } from 'zod';
import type { OwnTerms } from '../rules/row-terms.ts';
import { outcomes } from '../rules/outcome.ts';
import { campaignParams, instant, rowParams, several } from './fields.ts';
import { ask, download, read, under } from './operation.ts';

const rowState = z.enum(['waiting', 'open', 'done']);

const rowQuery = z.object({
  state: several(rowState),
  outcome: several(z.enum(outcomes)),
  reason: several(z.string().min(1)),
  result: several(z.string().min(1)).describe('What the last talk came to, by the rules of the campaign.'),
  waiting_for: z.string().min(1).optional().describe('A rule of `/campaigns/{campaign}/waiting`.'),
  search: z.string().min(1).max(200).optional().describe('As of `/search`, in this campaign.'),
  after: z.coerce.number().int().min(0).default(0).describe('`next` of the page before.'),
  limit: z.coerce.number().int().min(1).max(500).default(50),
  numbers: z
    .enum(['masked', 'shown'])
    .default('masked')
    .describe('Whether numbers are shown whole. That takes the role operate, and is written to the log.'),
});

const ownTermShapes = {
  notBefore: instant.nullable().describe('Not dialled before.'),
  expiresAt: instant.nullable().describe('Not dialled from then on.'),
  priority: z.int().min(1).max(100).nullable().describe('Place among first calls, 1 first; null is as 50.'),
  hours: z
    .string()
    .nullable()
    .meta({ description: 'Hours in which alone it is dialled, by the clock of the person called.', examples: ['Mon-Fri 18:00-20:00'] }),
  personKey: z.string().nullable().describe('Who the person is over all lists, where that is not the id of the row.'),
  consentedAt: instant.nullable().describe('When the person agreed, where the campaign asks for consent.'),
} satisfies Record<keyof OwnTerms, z.ZodType>;

const rowTerms = z
  .object({
    zones: z.array(z.string()).describe('All time zones in which the number may be.'),
    country: z.string().nullable(),
    regions: z.array(z.string()).nullable().describe('States or provinces in which it may be; null: nothing narrows them down.'),
    ...ownTermShapes,
  })
  .meta({
    id: 'RowTerms',
    description: 'Where, when and in which order the row is called, as its list says; null: it says nothing of that.',
  });

const campaignRow = z
  .object({
    row: z.int().describe('The first row below the header is 1.'),
    externalId: z.string().nullable(),
    e164: z
      .string()
      .nullable()
      .meta({ examples: ['+1••••••••42'] }),
    state: rowState,
    outcome: z.enum(outcomes).nullable(),
    reason: z.string().nullable(),
    result: z.string().nullable().describe('What the last talk came to, by the rules of the campaign.'),
    attempts: z.int(),
    disposition: z.string().nullable(),
    lastDialedAt: instant.nullable(),
    dueAt: instant.nullable(),
    changedAt: instant,
    terms: rowTerms,
  })
  .meta({ id: 'Row' });

const rowPage = z.object({
  rows: z.array(campaignRow),
  next: z.int().nullable().describe('`after` of the next page; null on the last one.'),
});

/** Every decision about a row's number. */
const numberHistory = z
  .object({
    e164: z.string().nullable(),
    suppressed: z.boolean().describe('Whether an entry of the do-not-call list holds now.'),
    rows: z
      .array(
        z.object({
          campaignId: z.string(),
          row: z.int(),
          state: rowState,
          outcome: z.enum(outcomes).nullable(),
          reason: z.string().nullable(),
          next: z.string().describe('When it may be called next, and because of which rule.'),
          calls: z.array(
            z.object({
              number: z.int(),
              state: z.string(),
              plannedAt: instant,
              postedAt: instant.nullable(),
              settledAt: instant.nullable(),
              disposition: z.string().nullable(),
              result: z.string().nullable(),
              detail: z.string().nullable(),
              conversationId: z.string().nullable(),
            }),
          ),
        }),
      )
      .describe('In every campaign of the database, the newest first.'),
    suppressions: z.array(
      z.object({
        scope: z.string(),
        source: z.string(),
        reason: z.string().nullable(),
        createdAt: instant,
        expiresAt: instant.nullable(),
      }),
    ),
    story: z.array(z.object({ seq: z.int(), at: instant, campaignId: z.string(), text: z.string() })),
    truncated: z.boolean().describe('Whether the log holds older lines.'),
  })
  .meta({ id: 'Story' });

const searchBody = z.object({
  text: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .meta({
      description: 'A whole id, `#` and the number of a row, four digits or more of a number, or part of a cell.',
      examples: ['Berg'],
    }),
  limit: z.int().min(1).max(200).default(50),
});

const foundPeople = z
  .object({
    people: z.array(
      z.object({
        campaignId: z.string(),
        campaignName: z.string().nullable(),
        ...campaignRow.pick({ row: true, externalId: true, e164: true, state: true, outcome: true }).shape,
        match: z
          .object({ column: z.string(), value: z.string() })
          .nullable()
          .describe('The cell in which the text stands; null: it is an id, a row or a number.'),
      }),
    ),
    complete: z.boolean().describe('Whether there is nobody else; otherwise ask for a longer text.'),
  })
  .meta({ id: 'FoundPeople' });

const evidenceQuery = z.object({
  since: instant.optional().describe('Calls that were requested before are left out.'),
  with_conversations: z.stringbool().default(false).describe('Adds what was said and recordings, as far as the service has them.'),
});

const callParams = rowParams.extend({
  call: z.coerce.number().int().min(1).describe('Number of the call to this row, from 1.'),
});

const transcript = z
  .object({
    campaignId: z.string(),
    row: z.int(),
    call: z.int(),
    conversationId: z.string(),
    startedAt: instant.nullable(),
    durationMs: z.number().nullable(),
    callResult: z.string().nullable(),
    isRecorded: z.boolean().describe('Whether the service has a recording of it.'),
    turns: z.array(
      z.object({
        speaker: z.string().describe('As the service names it.'),
        text: z.string().nullable(),
        time: z
          .union([z.string(), z.number()])
          .nullable()
          .describe('As the service reports it: an instant, or seconds since the call began.'),
      }),
    ),
  })
  .meta({ id: 'Transcript' });

const recording = {
  content: z.any().describe('The recording, or the part that was asked for.'),
  types: ['audio/*', 'application/octet-stream'],
  inParts: true,
};

export const rowOperations = under('rows', {
  listRows: read('GET /campaigns/:campaign/rows', 'read', 'List or search the rows of a campaign, in file order', {
    params: campaignParams,
    query: rowQuery,
    answer: rowPage,
  }),
  searchPeople: ask('POST /search', 'read', 'Search the people of all campaigns by ID, row, number or any cell of their list', {
    more:
      'The newest campaign comes first; numbers are masked. With the role read, only whole IDs and rows are found. It is a ' +
      'POST so that a number or a name stands in no address and no log.',
    body: searchBody,
    answer: foundPeople,
  }),
  showStory: read(
    'GET /campaigns/:campaign/rows/:row/story',
    'read',
    'Show every decision about the number of a row, and when it may be called next',
    { params: rowParams, query: rowQuery.pick({ numbers: true }), answer: numberHistory },
  ),
  downloadEvidence: download(
    'GET /campaigns/:campaign/rows/:row/evidence.zip',
    'operate',
    'Download what is known of the calls to the number of a row, signed, for whoever has to answer for them',
    {
      more: 'It holds nothing of anybody else, and the log says who has asked for it.',
      params: rowParams,
      query: evidenceQuery,
      produces: { content: z.any().describe('The archive.'), types: ['application/zip'] },
    },
  ),
  showTranscript: read(
    'GET /campaigns/:campaign/rows/:row/calls/:call/transcript',
    'operate',
    'Read what was said in a call that has ended',
    { more: 'It is read from the service, and the log says who has read it.', params: callParams, answer: transcript, refuses: [409] },
  ),
  downloadRecording: download(
    'GET /campaigns/:campaign/rows/:row/calls/:call/recording',
    'operate',
    'Download the recording of a call that has ended',
    {
      more:
        'It is fetched from where the service keeps it, in parts where a `range` asks for them and the service has them. The ' +
        'log says who has fetched it, once in 15 minutes.',
      params: callParams,
      produces: recording,
      refuses: [409],
    },
  ),
});
