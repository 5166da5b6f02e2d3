import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { CampaignProgress } from '../activities/collect.ts';
import type { DeliverInput } from '../activities/deliver.ts';
import type { NotifyInput, NotifyPauseInput } from '../activities/notify.ts';
import type { CampaignQueues } from '../src/rules/ids.ts';

/** What every workflow is started with: the task queues of the workers that have its database, and their limits. */
export interface WorkflowSetting {
  queues: CampaignQueues;
  timeouts: CampaignTimeouts;
}

/** What a campaign workflow is started with, and continues as new with. Plain JSON: ids, counters and limits only. */
export interface CampaignInput extends WorkflowSetting {
  campaignId: string;
  round: number;
  /** Batches submitted so far; 0 at the start of a round. */
  submitted: number;
  /** Whether agent and caller number have passed their check. */
  callersChecked: boolean;
}

/** What a firing of a recurring campaign is started with. What it dials stands in the database alone. */
export interface ScheduledCampaignInput extends WorkflowSetting {
  scheduleId: string;
  /** The schedule's zone: the campaign and its list are named after the time there. */
  timeZone: string;
  /** A firing that no worker takes for this long is left out, in real milliseconds. */
  catchUpMs: number;
}

/** What the notice of the end of a round is started with. */
export type CompletionNoticeInput = NotifyInput & WorkflowSetting;

/** What the notice of a pause is started with. */
export type PauseNoticeInput = NotifyPauseInput & WorkflowSetting;

/** What the deliveries to a webhook are started with: the webhook's id; what is delivered stands in the database alone. */
export type WebhookInput = DeliverInput & WorkflowSetting;

/** Rows of the campaign that a firing has run; null when there was nothing left to run, and when promises are left. */
export interface FiringResult {
  campaignId: string;
  total: number | null;
  done: number | null;
}

/** Real milliseconds. */
export interface CampaignTimeouts {
  /** A worker that is silent for this long is taken for dead, and its collect starts elsewhere. */
  heartbeatMs: number;
  /** As `heartbeatMs`, for everything else of a round: whoever goes on with it sends nothing twice, so it may be short. */
  submitHeartbeatMs: number;
  /** Longer than posting window and HTTP limits together: a submit is never given up while its POST may be under way. */
  submitMs: number;
  collectMs: number;
  /** Planning, verdicts, state changes. */
  shortMs: number;
}

/** What the status query answers: rows by state, and batches submitted in this round. */
export interface CampaignCounters extends CampaignProgress {
  state: 'checking' | 'dialling' | 'paused' | 'closing' | 'closed';
  /** Why dialling waits, as the planner last said. */
  waitingFor: string | null;
  submitted: number;
}

/** What `carillon resume` knew when it was given; whoever resumes by hand leaves it out. */
export interface ResumeInput {
  /** Pauses that only the database has: one that comes after the resume is not undone by it, however late the workflow is told. */
  pausesSeen: number;
  /** Another sample of the pilot is called before the others. */
  sample?: true;
}

/** Each returns after its change is committed to the database; false when the campaign's state does not allow it. */
export const pauseUpdate = defineUpdate<boolean>('pause');
/** Continues a paused campaign, as it is sent by hand: without `ResumeInput`. */
export const resumeUpdate = defineUpdate<boolean>('resume');
/** The same update, as `carillon resume` sends it. */
export const knownResumeUpdate = defineUpdate<boolean, [ResumeInput]>('resume');
/** Ends dialling; open calls are collected, and the campaign counts as completed. Cannot be undone. */
export const drainUpdate = defineUpdate<boolean>('drain');
/** Ends dialling; open calls are collected, and the campaign counts as cancelled. Cannot be undone. */
export const cancelUpdate = defineUpdate<boolean>('cancel');
/** Something that planning depends on was changed in the database, such as rows or limits. Always true. */
export const lookAgainUpdate = defineUpdate<boolean>('lookAgain');
/** Reads counters from the workflow alone; the database has the details. */
export const statusQuery = defineQuery<CampaignCounters>('status');
/** What a campaign tells the firing that runs it, once nobody is left but whom it is to call back. */
export const onlyPromisesSignal = defineSignal('onlyPromises');
/** Rows were added: kept by Temporal until a worker is there, as an update is not. */
export const rowsAddedSignal = defineSignal('rowsAdded');
/** Has a webhook deliver at once: it was resumed, or its receiver is mended. */
export const deliverNowSignal = defineSignal('deliverNow');
