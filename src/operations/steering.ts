import { z } from 'zod';
import { queuedHandlings } from '../rules/service-api.ts';
import { campaignParams } from './fields.ts';
import { change, under } from './operation.ts';

/** `notice`: null, or why the workflow was not notified; it sees the change at its next plan. */
export const steered = z
  .object({
    campaignId: z.string(),
    state: z.string(),
    stateReason: z.string().nullable(),
    round: z.int(),
    notice: z
      .string()
      .nullable()
      .describe('Null; or why the workflow was not notified: the change holds, and it sees it at its next plan.'),
    queued: z
      .enum(queuedHandlings)
      .optional()
      .describe(
        'Of a pause: what becomes of calls that wait at the service. `never_taken_back`: its interface (SVC_API) cannot give calls back.',
      ),
  })
  .meta({ id: 'Steered' });

const recovered = steered
  .omit({ notice: true, queued: true })
  .extend({ workflowId: z.string().nullable().describe('Null: nothing was left to run.') })
  .meta({ id: 'Recovered' });

const steerBody = z.object({
  round: z
    .int()
    .min(0)
    .optional()
    .describe('The round that was looked at when the decision was made: a later one is left alone (409, `wrong_state`).'),
  pausesSeen: z
    .int()
    .min(0)
    .optional()
    .describe('How often the campaign had paused by itself when the decision to resume was made: a later pause is not undone.'),
});

const pauseBody = steerBody
  .extend({
    letQueued: z
      .boolean()
      .optional()
      .describe('True: calls that wait at the service may still ring. Else they are taken back, where its interface can do that.'),
  })
  .nullish();

const resumeBody = steerBody
  .extend({
    sample: z.boolean().optional().describe('True: another sample of the pilot is called before anybody else. Else everybody is called.'),
  })
  .nullish();
const follow = 'Show its progress: carillon status';

/** In the order of their buttons. */
export const plainOperations = under('campaigns', {
  pauseCampaign: change('POST /campaigns/:campaign/pause', 'operate', 'Place no further calls; open ones are still collected', {
    more: 'Holds when it is answered: Temporal, worker and service may be down.',
    action: 'pause',
    params: campaignParams,
    body: pauseBody,
    answer: steered,
    plain: {
      states: ['scheduled', 'running'],
      done: 'is paused',
      next: 'Resume it: carillon resume',
      help: `
Returns when the pause is committed. No call is placed after that, except a batch that was on its way to the service at that
moment. Open calls continue, and their results are collected. Needs only the database; Temporal, worker and service may be down.

Calls that the service has taken and that do not ring yet are taken back by a worker and planned again after the resume, unless
--let-queued leaves them to ring (who is put on the do-not-call list, or whose hours end, is still taken back). With SVC_API=contract
nothing can be taken back, with or without --let-queued.`,
      choice: {
        field: 'letQueued',
        flag: '--let-queued',
        says: 'leave calls that wait at the service to ring',
      },
    },
  }),
  resumeCampaign: change('POST /campaigns/:campaign/resume', 'operate', 'Continue a paused campaign', {
    more: 'If it paused by itself, mend what its reason names first, or it pauses again.',
    action: 'resume',
    params: campaignParams,
    body: resumeBody,
    answer: steered,
    plain: {
      states: ['paused'],
      done: 'is running again',
      next: follow,
      choice: { field: 'sample', flag: '--sample', says: 'call another sample of the pilot first, such as after a change of the agent' },
      help: `
If the campaign paused by itself, carillon status shows the reason. Fix it first, or the campaign pauses again. To resume a campaign whose
pilot is over is to decide about it: everybody is called, or with --sample another sample of the same size before anybody else.`,
    },
  }),
  drainCampaign: change(
    'POST /campaigns/:campaign/drain',
    'operate',
    'Finish open calls, call no waiting recipients, and complete the campaign',
    {
      more: 'Waiting rows end as cancelled. This cannot be undone.',
      action: 'drain',
      params: campaignParams,
      body: steerBody.nullish(),
      answer: steered,
      plain: {
        ends: true,
        states: ['scheduled', 'running', 'paused'],
        done: 'is draining: no further dials; it completes when the open calls are collected',
        next: follow,
        help: `
Waiting recipients get the outcome "cancelled" and are not called. Open calls continue, and their results are collected. The campaign
then ends as completed; to end it as cancelled, use carillon cancel.`,
      },
    },
  ),
  cancelCampaign: change('POST /campaigns/:campaign/cancel', 'operate', 'End a campaign; waiting recipients are not called', {
    more: 'Open calls are still collected. This cannot be undone.',
    action: 'cancel',
    params: campaignParams,
    body: steerBody.nullish(),
    answer: steered,
    plain: {
      ends: true,
      states: ['scheduled', 'running', 'paused', 'draining'],
      done: 'is being cancelled: no further dials; calls that are open are still collected',
      next: follow,
      help: `
Waiting recipients get the outcome "cancelled" and are not called. Open calls continue, and their results are collected.`,
    },
  }),
});
export type PlainId = keyof typeof plainOperations;

export const recoverOperation = under('campaigns', {
  recoverCampaign: change(
    'POST /campaigns/:campaign/recover',
    'operate',
    'Restart a campaign from the database after Temporal has lost its data',
    {
      more:
        'Nothing is sent again. The conversations of the service are read first: if it knows calls that the database does ' +
        'not, nothing is started.',
      action: 'recover',
      params: campaignParams,
      answer: recovered,
    },
  ),
});
