import { z } from 'zod';

/** An enum whose first word is the default. */
function oneOf<const Words extends readonly [string, ...string[]]>(...words: Words) {
  return z.enum(words, { error: words.join(' or ') }).default(words[0]);
}

const yesOrNo = z.boolean({ error: 'true or false' });
const wholeMs = 'a whole number of milliseconds, 0 or more';
/** Service time. */
const milliseconds = z.int({ error: wholeMs }).min(0, { error: wholeMs });
export const atLeastOne = 'a whole number of at least 1';

/** Open points of batch calling besides `maxCallsPerBatch`; defaults are the easiest for a client. */
export const batchSettings = z.strictObject({
  /** Reported status of an unanswered or busy call. */
  unanswered: oneOf('failed', 'completed'),
  /** Calls that a cancelled batch ends: waiting, also ringing, or also in progress. */
  cancelEnds: oneOf('waiting', 'ringing', 'talking'),
  /** `all`: reports every recipient of a cancelled batch as cancelled, regardless of the call's result. */
  cancelMarks: oneOf('withdrawn', 'all'),
  listOrder: oneOf('newest_first', 'oldest_first'),
  /** Highest `limit` of the batch list. */
  mostListed: z.int({ error: atLeastOne }).min(1, { error: atLeastOne }).default(100),
  /** Delay before the list shows a new batch. */
  listLagMs: milliseconds.default(0),
  /** Delay before reports and the list show changes to a batch's calls. */
  reportLagMs: milliseconds.default(0),
  /** How long a dialled recipient is `dispatched` before `initiated`. */
  dispatchedMs: milliseconds.default(0),
  /** `replaced`: reports and records use the service's own ids. */
  recipientIds: oneOf('kept', 'replaced'),
  /** True: a batch that repeats a recipient id is refused. */
  uniqueRecipientIds: yesOrNo.default(false),
  /** False: batches are refused with 403, since the terms are not accepted. */
  termsAccepted: yesOrNo.default(true),
});

/** Open points of outbound campaigns; defaults do what the published types say. */
export const campaignSettings = z.strictObject({
  /** How long a repeat is recognised by key or body; null: forever, 0: never. */
  keyKeptMs: milliseconds.nullable().default(null),
  /** Answer to a known key with another body: the existing campaign, or 409. */
  otherBody: oneOf('existing', 'conflict'),
  /** `ignored`: calls are dialled at once, despite `scheduled_time_unix`. */
  schedule: oneOf('kept', 'ignored'),
  /** `too_late`: stopping a campaign does not stop calls that wait for their scheduled time. */
  stopOfScheduled: oneOf('dials_nobody', 'too_late'),
  /** Delay before the list shows a new campaign. */
  listLagMs: milliseconds.default(0),
  /** Delay before calls, leads and progress show changes. */
  reportLagMs: milliseconds.default(0),
  /** Where a recipient's own id is returned; `everywhere` includes records. */
  recipientIds: oneOf('leads', 'everywhere', 'nowhere'),
});

export type BatchSettings = z.output<typeof batchSettings>;
export const defaultBatchSettings = batchSettings.parse({});
export const defaultCampaignSettings = campaignSettings.parse({});
