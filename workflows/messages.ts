import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { CampaignProgress } from '../activities/collect.ts';
import type { DeliverInput } from '../activities/deliver.ts';
import type { NotifyInput, NotifyPauseInput } from '../activities/notify.ts';
import type { CampaignQueues } from '../src/rules/ids.ts';

/** Input of every workflow: task queues of this database's workers, and limits. */
export interface WorkflowSetting {
  queues: CampaignQueues;
  timeouts: CampaignTimeouts;
}

/** Input of a campaign workflow, also as it continues as new. Plain JSON: ids, counters and limits only. */
export interface CampaignInput extends WorkflowSetting {
  campaignId: string;
  round: number;
  /** Batches submitted so far; 0 at the start of a round. */
  submitted: number;
  /** Agent and caller numbers have passed their check. */
  callersChecked: boolean;
}

/** Input of one scheduled run. What it dials is in the database alone. */
export interface ScheduledCampaignInput extends WorkflowSetting {
  scheduleId: string;
  /** Campaign and list are named after its local time. */
  timeZone: string;
  /** Real ms after which a run that no worker has taken is skipped. */
  catchUpMs: number;
}

/** Input of the end-of-round notification. */
export type CompletionNotificationInput = NotifyInput & WorkflowSetting;

/** Input of the pause notification. */
export type PauseNotificationInput = NotifyPauseInput & WorkflowSetting;

/** Input of a webhook's deliveries; events are in the database alone. */
export type WebhookInput = DeliverInput & WorkflowSetting;

/** Rows of a scheduled run's campaign; null when there was nothing to run, or only callbacks are left. */
export interface ScheduledRunResult {
  campaignId: string;
  total: number | null;
  done: number | null;
}

/** Real ms. */
export interface CampaignTimeouts {
  /** A worker silent for this long counts as dead; its collect restarts elsewhere. */
  heartbeatMs: number;
  /** For everything else of a round; may be short, since a takeover sends nothing twice. */
  submitHeartbeatMs: number;
  /** Longer than posting window and HTTP limits: a submit is never given up while its POST may be under way. */
  submitMs: number;
  collectMs: number;
  /** Planning, verdicts, state changes. */
  shortMs: number;
}

/** Rows by state, and batches submitted in this round. */
export interface CampaignCounters extends CampaignProgress {
  state: 'checking' | 'dialling' | 'paused' | 'closing' | 'closed';
  /** The planner's last reason. */
  waitingFor: string | null;
  submitted: number;
}

/** What `carillon resume` knew; absent in a resume sent by hand. */
export interface ResumeInput {
  /** The resume does not undo a pause beyond this count, however late the workflow receives it. */
  pausesSeen: number;
  /** Calls another sample of the pilot first. */
  sample?: true;
}

/** Updates return after the commit; false when the campaign's state does not allow it. */
export const pauseUpdate = defineUpdate<boolean>('pause');
/** `resume` as sent by hand, without `ResumeInput`. */
export const resumeUpdate = defineUpdate<boolean>('resume');
/** `resume` as `carillon resume` sends it. */
export const knownResumeUpdate = defineUpdate<boolean, [ResumeInput]>('resume');
/** Ends dialling; open calls are collected, and the campaign counts as completed. Cannot be undone. */
export const drainUpdate = defineUpdate<boolean>('drain');
/** Ends dialling; open calls are collected, and the campaign counts as cancelled. Cannot be undone. */
export const cancelUpdate = defineUpdate<boolean>('cancel');
/** Replans after a change of rows or limits. Always true. */
export const lookAgainUpdate = defineUpdate<boolean>('lookAgain');
/** Counters of the workflow alone; the database has the details. */
export const statusQuery = defineQuery<CampaignCounters>('status');
/** Sent to the scheduled run once only callbacks are left. */
export const onlyPromisesSignal = defineSignal('onlyPromises');
/** Rows were added; unlike an update, Temporal keeps it until a worker is there. */
export const rowsAddedSignal = defineSignal('rowsAdded');
/** Delivers at once: the webhook was resumed, or its receiver is fixed. */
export const deliverNowSignal = defineSignal('deliverNow');
