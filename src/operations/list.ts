import { campaignOperations } from './campaign-operations.ts';
import { ask, change, download, read, under } from './operation.ts';

/**
 * Every operation by its id. What each takes and answers is in `schemas`; API, client, commands and page have method, path, role and
 * sentence from here. Nothing else is imported, so that the client and the help of the command line load nothing else.
 */
export const operations = {
  ...campaignOperations,

  ...under('events', {
    listEvents: read('GET /api/v1/events', 'read', 'Read the event log from a cursor on, oldest first'),
    followEvents: download(
      'GET /api/v1/events/stream',
      'read',
      'Follow the event log as server-sent events',
      'The id of each event is its `seq`; a client that connects again sends it as `Last-Event-ID` and misses nothing. ' +
        'Without one, and without `after`, the stream begins with what is added from now on.',
    ),
  }),

  ...under('do-not-call', {
    listSuppressions: read('GET /api/v1/suppressions', 'operate', 'List the do-not-call list, by number'),
    addSuppressions: change(
      'POST /api/v1/suppressions',
      'operate',
      'Put numbers on the do-not-call list',
      'Calls that are planned are stopped too. An entry is never shortened.',
    ),
    importSuppressions: change(
      'POST /api/v1/suppressions/import',
      'operate',
      'Put the numbers of a file on the do-not-call list, all of them or none',
      'CSV or a workbook, of any length. Lines that are no number are left out and counted.',
    ),
    removeSuppressions: change(
      'POST /api/v1/suppressions/remove',
      'admin',
      'Allow calls to numbers again',
      'Somebody may have asked not to be called.',
    ),
    checkSuppressions: ask('POST /api/v1/suppressions/check', 'read', 'Check whether and why numbers are not called; changes nothing'),
  }),

  ...under('schedules', {
    listSchedules: read('GET /api/v1/schedules', 'read', 'List the schedules with their next and last runs'),
    readSchedule: read('GET /api/v1/schedules/:campaign', 'read', 'Read a schedule with its next runs and its last one'),
    createSchedule: change(
      'POST /api/v1/schedules',
      'admin',
      'Create a schedule for a campaign file; each run fetches its list from an address',
    ),
    editSchedule: change(
      'POST /api/v1/schedules/:campaign/edit',
      'admin',
      'Change when a schedule runs, or what its runs read, from the next run on',
      'Its times are replaced whole; list and campaign file stay where they are left out. A pause and the runs so far stay.',
    ),
    previewSchedule: ask(
      'POST /api/v1/schedules/preview',
      'admin',
      'Show when the first runs of a schedule would be; nothing is created',
      'Runs of an interval without startAt are counted from when the schedule is made.',
    ),
    pauseSchedule: change(
      'POST /api/v1/schedules/:campaign/pause',
      'operate',
      'Start no runs until the schedule is resumed',
      'A running campaign continues. Repeating it changes nothing but a note.',
    ),
    resumeSchedule: change(
      'POST /api/v1/schedules/:campaign/resume',
      'operate',
      'Start runs again',
      'Missed runs are not made up. Repeating it changes nothing but a note.',
    ),
    triggerSchedule: change(
      'POST /api/v1/schedules/:campaign/trigger',
      'operate',
      'Start a run now, also of a paused schedule',
      'Refused while the campaign of an earlier run has not ended.',
    ),
    continueSchedule: change(
      'POST /api/v1/schedules/:campaign/continue',
      'operate',
      'Continue the campaign of the last run after its workflow was lost or ended by hand',
      'Harmless if the campaign runs.',
    ),
    deleteSchedule: change(
      'DELETE /api/v1/schedules/:campaign',
      'operate',
      'Delete a schedule',
      'It starts no further runs; campaigns that it has started continue.',
    ),
  }),

  ...under('webhooks', {
    listWebhooks: read('GET /api/v1/webhooks', 'read', 'List the webhooks and how their deliveries go'),
    addWebhook: change(
      'POST /api/v1/webhooks',
      'admin',
      'Notify an address of events from now on',
      'Requests are signed (Standard Webhooks), and sent in the order of the log until each is taken.',
    ),
    readWebhook: read('GET /api/v1/webhooks/:webhook', 'read', 'Read a webhook and how its deliveries go'),
    removeWebhook: change('DELETE /api/v1/webhooks/:webhook', 'admin', 'Stop notifying an address'),
    pauseWebhook: change('POST /api/v1/webhooks/:webhook/pause', 'admin', 'Hold events back; none is lost'),
    resumeWebhook: change('POST /api/v1/webhooks/:webhook/resume', 'admin', 'Send what was held back, at once'),
    testWebhook: ask(
      'POST /api/v1/webhooks/:webhook/test',
      'admin',
      'Send a ping from the server of the API, and say whether it was taken',
    ),
  }),

  ...under('access', {
    listTokens: read('GET /api/v1/tokens', 'admin', 'List the tokens with their last use, newest first; none can be read again'),
    createToken: change(
      'POST /api/v1/tokens',
      'admin',
      'Make a token and show it once',
      'Its text is kept nowhere: the same Idempotency-Key answers again without it.',
    ),
    revokeToken: change(
      'DELETE /api/v1/tokens/:token',
      'admin',
      'Refuse a token from now on',
      'Whoever is signed in with it is signed out. Repeating it changes nothing.',
    ),
  }),
} as const;

export type OperationId = keyof typeof operations;

/** What an operation does and what to know besides, in whole sentences. */
export function sentencesOf(id: OperationId): string {
  const { says, more } = operations[id];
  return `${says}. ${more}`.trimEnd();
}
