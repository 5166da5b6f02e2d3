import { z } from 'zod';
import { campaignParams } from './common.ts';

/** What came of a campaign that was sent. */
const created = z
  .object({
    campaignId: z.string(),
    result: z.enum(['started', 'attached', 'ended']).meta({
      description: 'attached: the database had it from the same file and list; ended: and it has come to its end.',
    }),
    imported: z.boolean(),
    state: z.string(),
    round: z.int().nullable(),
    rowsTotal: z.int(),
    rowsRejected: z.int(),
    notes: z.array(z.string()).meta({ description: 'How the list was read, and which caller numbers are left out.' }),
    warnings: z.array(z.string()).meta({ description: 'What a person should know although it begins.' }),
  })
  .meta({ id: 'Created' });

const createQuery = z.object({
  allow_partial: z.stringbool().default(false).meta({ description: 'Start although not everybody can be called before the end.' }),
});

/** What `carillon check --json` prints, and what it says beside it. */
const checked = z
  .looseObject({
    startable: z.boolean(),
    refusal: z.string().nullable().meta({ description: 'Why a start would be refused for its file or list.' }),
    warnings: z.array(z.string()),
    rows: z.int(),
    accepted: z.int(),
  })
  .meta({ id: 'Check' });

const updateQuery = z.object({
  dry_run: z.stringbool().default(false).meta({ description: 'Says what would be done, and changes nothing.' }),
  add: z.stringbool().default(false).meta({ description: 'Takes the list even if it looks like that of another campaign.' }),
  restore: z.stringbool().default(false).meta({ description: 'Restores withdrawn rows that the list has.' }),
});

const updated = z
  .object({
    campaignId: z.string(),
    dryRun: z.boolean(),
    rows: z.int(),
    accepted: z.int(),
    corrected: z.int(),
    unchanged: z.int(),
    failed: z.int(),
    mayStillBeCalled: z.int(),
    failures: z.array(
      z.object({
        code: z.string(),
        count: z.int(),
        examples: z.array(z.object({ row: z.int(), line: z.int().nullable(), id: z.string().nullable(), hint: z.string().nullable() })),
      }),
    ),
    notice: z.string().nullable(),
  })
  .meta({ id: 'Updated' });

/** Of campaigns and lists that are sent. */
export const createShapes = {
  createCampaign: { files: ['campaign', 'list'], query: createQuery, answer: created, status: 201 },
  checkCampaign: { files: ['campaign', 'list'], answer: checked, refuses: [422] },
  updateList: { params: campaignParams, files: ['list'], query: updateQuery, answer: updated },
} as const;
