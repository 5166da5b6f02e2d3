/** What the types of batch calling leave open beside `maxCallsPerBatch`; defaults trouble a caller least. Milliseconds of service time. */
export const defaultBatchSettings = {
  /** What a report says of somebody who did not pick up, or was busy. */
  unanswered: 'failed' as 'failed' | 'completed',
  /** What a cancelled batch ends of its calls: those that wait, those that ring too, or talks under way too. */
  cancelEnds: 'waiting' as 'waiting' | 'ringing' | 'talking',
  /** `all`: a cancelled batch calls every recipient cancelled, whatever became of the call. */
  cancelMarks: 'withdrawn' as 'withdrawn' | 'all',
  /** Of the list of batches. */
  listOrder: 'newest_first' as 'newest_first' | 'oldest_first',
  /** The highest `limit` of that list. */
  mostListed: 100,
  /** How late that list shows a new batch. */
  listLagMs: 0,
  /** How late a report, and the list, show what has happened to the calls of a batch. */
  reportLagMs: 0,
  /** For how long a dialled recipient is `dispatched` before it is `initiated`. */
  dispatchedMs: 0,
  /** `replaced`: reports and records have ids of the service's own. */
  recipientIds: 'kept' as 'kept' | 'replaced',
  /** A batch with one recipient id twice is refused. */
  uniqueRecipientIds: false,
  /** Until the terms of batch calling are accepted, a batch is refused with 403. */
  termsAccepted: true,
};

export type BatchSettings = typeof defaultBatchSettings;
