import type * as calls from '../api/schemas/calls.ts';
import type { campaignDetail, campaignList, course, funnel, waitingGroups } from '../api/schemas/campaign.ts';
import type { campaignParams } from '../api/schemas/common.ts';
import type { checked, createQuery, created, updateQuery, updated } from '../api/schemas/create.ts';
import type { doubtfulRows, resolveBody, resolved, rowDecided, rowDecisionBody } from '../api/schemas/doubt.ts';
import type { eventPage, eventQuery } from '../api/schemas/events.ts';
import type * as handOn from '../api/schemas/hand-on.ts';
import type { calleeStory, rowPage, rowParams, rowQuery, storyQuery } from '../api/schemas/rows.ts';
import type * as schedules from '../api/schemas/schedules.ts';
import type * as steer from '../api/schemas/steer.ts';
import type * as dnc from '../api/schemas/suppressions.ts';
import type * as hooks from '../api/schemas/webhooks.ts';
import { ask, change, download, read } from './operation.ts';

type Call = { params: typeof calls.callParams };
type Campaign = { params: typeof campaignParams };
type Row = { params: typeof rowParams };
type Hook = { params: typeof hooks.webhookParams };
type Schedule = { params: typeof schedules.scheduleParams };
type ScheduleWish = Schedule & { body: typeof schedules.scheduleNoteBody; answer: typeof schedules.changedSchedule };
type Wish = Campaign & { body: typeof steer.wishBody; answer: typeof steer.steered };

/** Every operation of the API by its operationId, but for `followEvents`, which answers no single time. */
export const operations = {
  listCampaigns: read<{ answer: typeof campaignList }>('GET /api/v1/campaigns'),
  showCampaign: read<Campaign & { answer: typeof campaignDetail }>('GET /api/v1/campaigns/:campaign'),
  createCampaign: change<{ files: 'campaign' | 'list'; query: typeof createQuery; answer: typeof created }>(
    'POST /api/v1/campaigns',
  ),
  checkCampaign: ask<{ files: 'campaign' | 'list'; answer: typeof checked }>('POST /api/v1/campaigns/check'),
  updateList: change<Campaign & { files: 'list'; query: typeof updateQuery; answer: typeof updated }>(
    'POST /api/v1/campaigns/:campaign/update',
  ),

  pauseCampaign: change<Wish>('POST /api/v1/campaigns/:campaign/pause'),
  resumeCampaign: change<Wish>('POST /api/v1/campaigns/:campaign/resume'),
  drainCampaign: change<Wish>('POST /api/v1/campaigns/:campaign/drain'),
  cancelCampaign: change<Wish>('POST /api/v1/campaigns/:campaign/cancel'),
  adjustCampaign: change<Campaign & { body: typeof steer.adjustBody; answer: typeof steer.adjusted }>(
    'POST /api/v1/campaigns/:campaign/adjust',
  ),
  withdrawRows: change<Campaign & { body: typeof steer.withdrawBody; answer: typeof steer.withdrawn }>(
    'POST /api/v1/campaigns/:campaign/withdraw',
  ),
  retryRows: change<Campaign & { body: typeof steer.retryBody; answer: typeof steer.retried }>(
    'POST /api/v1/campaigns/:campaign/retry',
  ),
  recoverCampaign: change<Campaign & { answer: typeof steer.recovered }>('POST /api/v1/campaigns/:campaign/recover'),

  listRows: read<Campaign & { query: typeof rowQuery; answer: typeof rowPage }>('GET /api/v1/campaigns/:campaign/rows'),
  showStory: read<Row & { query: typeof storyQuery; answer: typeof calleeStory }>(
    'GET /api/v1/campaigns/:campaign/rows/:row/story',
  ),
  showTranscript: read<Call & { answer: typeof calls.transcript }>(
    'GET /api/v1/campaigns/:campaign/rows/:row/calls/:call/transcript',
  ),
  downloadRecording: download<Call>('GET /api/v1/campaigns/:campaign/rows/:row/calls/:call/recording'),
  listDoubtful: read<Campaign & { answer: typeof doubtfulRows }>('GET /api/v1/campaigns/:campaign/doubtful'),
  resolveRow: change<Row & { body: typeof rowDecisionBody; answer: typeof rowDecided }>(
    'POST /api/v1/campaigns/:campaign/rows/:row/resolve',
  ),
  resolveAll: change<Campaign & { body: typeof resolveBody; answer: typeof resolved }>(
    'POST /api/v1/campaigns/:campaign/resolve',
  ),

  showWaiting: read<Campaign & { answer: typeof waitingGroups }>('GET /api/v1/campaigns/:campaign/waiting'),
  showFunnel: read<Campaign & { answer: typeof funnel }>('GET /api/v1/campaigns/:campaign/funnel'),
  showCourse: read<Campaign & { answer: typeof course }>('GET /api/v1/campaigns/:campaign/course'),
  showReport: read<Campaign & { answer: typeof handOn.report }>('GET /api/v1/campaigns/:campaign/report'),
  downloadReport: download<Campaign & { query: typeof handOn.htmlReportQuery }>(
    'GET /api/v1/campaigns/:campaign/report.html',
  ),
  downloadResults: download<{ params: typeof handOn.resultsParams; query: typeof handOn.resultsQuery }>(
    'GET /api/v1/campaigns/:campaign/results.:format',
  ),
  listResults: read<Campaign & { query: typeof handOn.resultPageQuery; answer: typeof handOn.resultPage }>(
    'GET /api/v1/campaigns/:campaign/results',
  ),
  listEvents: read<{ query: typeof eventQuery; answer: typeof eventPage }>('GET /api/v1/events'),

  listSuppressions: read<{ query: typeof dnc.suppressionQuery; answer: typeof dnc.suppressionPage }>(
    'GET /api/v1/suppressions',
  ),
  addSuppressions: change<{ body: typeof dnc.addSuppressionsBody; answer: typeof dnc.addedSuppressions }>(
    'POST /api/v1/suppressions',
  ),
  importSuppressions: change<{
    files: 'numbers';
    query: typeof dnc.importSuppressionsQuery;
    answer: typeof dnc.importedSuppressions;
  }>('POST /api/v1/suppressions/import'),
  removeSuppressions: change<{ body: typeof dnc.removeSuppressionsBody; answer: typeof dnc.removedSuppressions }>(
    'POST /api/v1/suppressions/remove',
  ),
  checkSuppressions: ask<{ body: typeof dnc.checkSuppressionsBody; answer: typeof dnc.checkedNumbers }>(
    'POST /api/v1/suppressions/check',
  ),

  listSchedules: read<{ answer: typeof schedules.scheduleList }>('GET /api/v1/schedules'),
  readSchedule: read<Schedule & { answer: typeof schedules.schedule }>('GET /api/v1/schedules/:campaign'),
  pauseSchedule: change<ScheduleWish>('POST /api/v1/schedules/:campaign/pause'),
  resumeSchedule: change<ScheduleWish>('POST /api/v1/schedules/:campaign/resume'),
  createSchedule: change<{ body: typeof schedules.newScheduleBody; answer: typeof schedules.schedule }>(
    'POST /api/v1/schedules',
  ),
  previewSchedule: ask<{ body: typeof schedules.newScheduleBody; answer: typeof schedules.schedulePreview }>(
    'POST /api/v1/schedules/preview',
  ),
  triggerSchedule: change<Schedule & { answer: typeof schedules.triggeredSchedule }>(
    'POST /api/v1/schedules/:campaign/trigger',
  ),
  continueSchedule: change<Schedule & { answer: typeof schedules.continuedSchedule }>(
    'POST /api/v1/schedules/:campaign/continue',
  ),
  deleteSchedule: change<Schedule & { answer: typeof schedules.deletedSchedule }>('DELETE /api/v1/schedules/:campaign'),

  listWebhooks: read<{ answer: typeof hooks.webhookList }>('GET /api/v1/webhooks'),
  addWebhook: change<{ body: typeof hooks.addWebhookBody; answer: typeof hooks.changedWebhook }>(
    'POST /api/v1/webhooks',
  ),
  readWebhook: read<Hook & { answer: typeof hooks.webhook }>('GET /api/v1/webhooks/:webhook'),
  removeWebhook: change<Hook & { answer: typeof hooks.webhook }>('DELETE /api/v1/webhooks/:webhook'),
  pauseWebhook: change<Hook & { answer: typeof hooks.changedWebhook }>('POST /api/v1/webhooks/:webhook/pause'),
  resumeWebhook: change<Hook & { answer: typeof hooks.changedWebhook }>('POST /api/v1/webhooks/:webhook/resume'),
  testWebhook: ask<Hook & { answer: typeof hooks.pingAnswer }>('POST /api/v1/webhooks/:webhook/test'),
} as const;

/** The operation behind `followEvents`. */
export const eventStream = 'GET /api/v1/events/stream';
