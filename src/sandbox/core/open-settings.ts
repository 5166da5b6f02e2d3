import { z } from 'zod';

/** A choice of words, of which the first counts where none is given. */
function oneOf<const Words extends readonly [string, ...string[]]>(...words: Words) {
  return z.enum(words, { error: words.join(' or ') }).default(words[0]);
}

const yesOrNo = z.boolean({ error: 'true or false' });
const wholeMs = 'a whole number of milliseconds, 0 or more';
/** Of service time. */
const milliseconds = z.int({ error: wholeMs }).min(0, { error: wholeMs });
export const atLeastOne = 'a whole number of at least 1';

/** What the types of batch calling leave open beside `maxCallsPerBatch`; defaults trouble a caller least. */
export const batchSettings = z.strictObject({
  /** What a report says of somebody who did not pick up, or was busy. */
  unanswered: oneOf('failed', 'completed'),
  /** What a cancelled batch ends of its calls: those that wait, those that ring too, or talks under way too. */
  cancelEnds: oneOf('waiting', 'ringing', 'talking'),
  /** `all`: a cancelled batch calls every recipient cancelled, whatever became of the call. */
  cancelMarks: oneOf('withdrawn', 'all'),
  /** Of the list of batches. */
  listOrder: oneOf('newest_first', 'oldest_first'),
  /** The highest `limit` of that list. */
  mostListed: z.int({ error: atLeastOne }).min(1, { error: atLeastOne }).default(100),
  /** How late that list shows a new batch. */
  listLagMs: milliseconds.default(0),
  /** How late a report, and the list, show what has happened to the calls of a batch. */
  reportLagMs: milliseconds.default(0),
  /** For how long a dialled recipient is `dispatched` before it is `initiated`. */
  dispatchedMs: milliseconds.default(0),
  /** `replaced`: reports and records have ids of the service's own. */
  recipientIds: oneOf('kept', 'replaced'),
  /** A batch with one recipient id twice is refused. */
  uniqueRecipientIds: yesOrNo.default(false),
  /** Until the terms of batch calling are accepted, a batch is refused with 403. */
  termsAccepted: yesOrNo.default(true),
});

/** What the published types of outbound campaigns leave open, by default as they say at least. */
export const campaignSettings = z.strictObject({
  /** For how long a repeat is known by its key or its body; null for ever, 0 not at all. After that it makes another campaign. */
  keyKeptMs: milliseconds.nullable().default(null),
  /** What a known key with another body is answered: the campaign that it made, or 409. */
  otherBody: oneOf('existing', 'conflict'),
  /** `ignored`: calls are dialled at once, whatever `scheduled_time_unix` says. */
  schedule: oneOf('kept', 'ignored'),
  /** `too_late`: what waits for its time when its campaign is stopped is dialled all the same. */
  stopOfScheduled: oneOf('dials_nobody', 'too_late'),
  /** How late the list shows a new campaign. */
  listLagMs: milliseconds.default(0),
  /** How late calls, leads and progress show what has happened. */
  reportLagMs: milliseconds.default(0),
  /** Where a recipient's own id comes back: `everywhere` is in records too. */
  recipientIds: oneOf('leads', 'everywhere', 'nowhere'),
});

export type BatchSettings = z.output<typeof batchSettings>;
export const defaultBatchSettings = batchSettings.parse({});
export const defaultCampaignSettings = campaignSettings.parse({});
