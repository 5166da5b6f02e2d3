import type { CallerFault } from './caller-choice.ts';
import type { AdjustableLimit, AdjustableRules, CampaignRules, AccountRules } from './campaign-rules.ts';
import type { ConsentFault } from './consent.ts';
import type { Disposition } from './disposition.ts';
import type { BatchState, PostVerdict } from './ledger.ts';
import type { CampaignState } from './lifecycle.ts';
import type { Outcome } from './outcome.ts';
import type { ServiceApi } from './service-api.ts';
import type { LoggedTerms } from './row-terms.ts';
import type { CallbackEnd, UnclearReason } from './callback-rules.ts';
import type { GateReading } from './gates.ts';
import type { AfterTalk } from './talk-results.ts';

type Limits = Partial<Record<AdjustableLimit | 'keepFree', number | null>>;

/** Why calls queued at the service are withdrawn: the campaign stopped, or one of them is no longer allowed. */
export type WithdrawReason =
  'paused' | 'ended' | 'withdrawn' | 'suppressed' | 'outside_hours' | 'campaign_end' | 'row_expired' | 'carried_out_twice' | ConsentFault;

interface CallEnd {
  disposition: Disposition;
  detail: string | null;
  counted: boolean;
}

/** `failing`: no delivery accepted for days; `disabled`: the receiver refused for good (410). */
export type WebhookChange = 'added' | 'removed' | 'paused' | 'resumed' | 'failing' | 'recovered' | 'disabled';

/** Keyed hashes of a row: its number, times and person; and its cells. */
export interface RowHash {
  hash: string;
  cells: string;
  version?: RowHashVersion;
}

/** How the terms of a row are hashed; absent in older logs, which hashed them as a list. */
export type RowHashVersion = 2;

interface Entry {
  e164: string;
  /** `account`, a campaign id, or `purpose:` and a word. */
  scope: string;
}

/** Result of one scheduled run: a new campaign, or why there is none. */
export interface ScheduledRun {
  scheduleId: string;
  /** The campaign to start. */
  campaignId: string;
  /** Real time at which it was due. */
  scheduledAt: number;
  /** Null: the campaign was started. Contains no number and no cell of a list. */
  failure: string | null;
}

/** A callback is kept if its call is requested from `dueAt` on and before `until`. */
interface CallbackTimes {
  promise: string;
  dueAt: number;
  until: number;
}

/** A clock change while the campaign ran. */
export interface ClockStep {
  clock: 'service' | 'machine';
  /** Milliseconds on that clock; negative when it was set back. */
  byMs: number;
}

/** Subject of a notification: the end of a round, or a pause by the campaign itself. */
export type NotificationFacts = { hook: 'on_completion'; round: number } | { hook: 'on_pause'; round: number; pausedAt: number };

/** Data of each event type. Times are epoch ms, service time unless the name says `Real`. */
export interface EventData {
  'campaign.imported': {
    hash: string;
    rows: number;
    firstRow: number | null;
    rejected: number;
    rules: CampaignRules;
    /** API of the service; absent: the contract's. */
    api?: ServiceApi;
    timeZoneData: string;
  };
  /** Keyed hashes of the rows from `from` on, as base64url; each split as in `RowHash`. */
  'campaign.rows': { from: number; hashes: string; cells: string; version?: RowHashVersion };
  /** `letQueued`: calls queued at the service are left to ring during the pause. */
  'campaign.state': { from: CampaignState; to: CampaignState; reason: string | null; resumeAt?: number; letQueued?: true };
  'campaign.edited': { added: number; corrected: number; withdrawn: number };
  'campaign.adjusted': { from: Partial<AdjustableRules>; to: Partial<AdjustableRules>; by: 'person' };
  /** Limits of the account, or the address of its service. */
  'account.adjusted': { from: Limits & { service?: string }; to: Limits & { service?: string }; by: 'person' };
  /** Account rules, under the scope of all campaigns; null: removed. */
  'house.changed': { version: number; rules: AccountRules | null };
  /** In thousandths of the limits. */
  'account.pace': { from: number; to: number };
  'round.started': { round: number };
  'round.ended': { round: number };
  'batch.planned': { size: number };
  /** Calls the pre-dial hook was asked about, and its answers; `eligible`: attempt ids. */
  'batch.screened': { asked: number; refused: number; later: number; eligible: readonly string[] };
  /** `speed`: service ms per real ms, if not 1. */
  'batch.posting': { k: number; size: number; deadlineReal: number; caller: string; speed?: number };
  'batch.state':
    | { state: 'confirmed'; by: 'reply'; service_batch_id: string; calls_initiated: number | null }
    | { state: 'confirmed'; by: 'evidence' }
    /** The service has the request's mark. */
    | { state: 'confirmed'; by: 'look_up'; service_batch_id: string }
    | { state: 'refused'; status: number | null }
    | { state: 'released'; reason?: string }
    /** By an operator who gave up its records; otherwise because none was found. */
    | { state: 'held'; by?: 'person' }
    /** `look_up`: the service does not have the request's mark, and never will. */
    | { state: 'not_sent'; by?: 'look_up' }
    | { state: 'redial'; by: 'person' | 'campaign' }
    | { state: 'given_up'; by: 'person' }
    | { state: Extract<BatchState, 'unknown'> };
  /** Written before asking the service to return the batch's queued calls. */
  'batch.withdrawing': { reason: WithdrawReason };
  'post.verdict': { k: number; verdict: PostVerdict; status: number | null };
  'attempt.planned': undefined;
  /** With all terms of the row, so that verification knows its recipient and allowed times. */
  'attempt.posted': LoggedTerms & {
    k: number;
    /** If the campaign has a pre-dial hook. */
    screened?: string | null;
  };
  /** `report`: from the service's report on the call. */
  'attempt.released': { reason: string; by?: 'report' };
  'attempt.matched': { conversation: string; evidence: string; by?: 'person' };
  /** `report`: without a record, from the service's report on the call. */
  'attempt.settled': CallEnd & { by?: 'report' };
  /** Result of the talk, as named in the campaign file. `asks`: it asks for another call and does not end its row. */
  'attempt.result': { result: string; asks?: AfterTalk['kind'] };
  /** Rows of the pilot, drawn before the first call, or again by an operator. */
  'pilot.drawn': { sample: number; size: number; rows: readonly number[] };
  /** All were called once and read to their end. `passed`: the campaign goes on by itself. */
  'pilot.ended': { sample: number; passed: boolean; readings: readonly GateReading[] };
  /** The agent changed during the pilot or after it passed: an operator decides again. */
  'pilot.voided': { sample: number };
  'pilot.decided': { sample: number; decision: 'go_on' | 'sample'; by: 'person' };
  /** A gate with `always` was evaluated. */
  'gate.read': GateReading;
  /** Goal talks, as many as required: from now on only callbacks are called. */
  'goal.reached': { goals: number };
  /** A callback was agreed, by the recipient's record or by an operator. */
  'callback.promised': CallbackTimes & { by?: 'person' };
  /** Postponed, or the row was corrected. */
  'callback.moved': CallbackTimes;
  /** The callback time is unclear; an operator decides. */
  'callback.unclear': { promise: string; reason: UnclearReason };
  'callback.ended': { promise: string; state: CallbackEnd; reason: string | null };
  'attempt.corrected': CallEnd & { from: Disposition | null; by?: 'person' };
  'recipient.deferred': { until: number; reason: string; count: number };
  /** Its recent calls, and how many of them failed. */
  'caller.out': { phoneNumberId: string; reason: CallerFault; calls: number; failed: number };
  'caller.in': { phoneNumberId: string };
  'clock.stepped': ClockStep;
  /** Null: the outcome is taken back. */
  'recipient.outcome': { outcome: Outcome | null; reason: string | null };
  'recipient.retried': { outcome: Outcome | null; by: 'person' };
  'recipient.decided':
    { decision: 'theirs' | 'not_theirs'; conversation: string; by: 'person' } | { decision: 'redial' | 'give_up'; by: 'person' };
  'hook.delivered': NotificationFacts;
  'hook.failed': (NotificationFacts | { hook: 'pre_dial' }) & { fault: string; status?: number | null };
  'schedule.fired': ScheduledRun;
  'schedule.failed': ScheduledRun;
  'recipient.added': RowHash;
  /** `outcome`: the one that the correction takes back. */
  'recipient.corrected': RowHash & { outcome: Outcome | null; numberChanged: boolean };
  /** `callOpen`: its call was planned or open; its queued part at the service is withdrawn. */
  'recipient.withdrawn': { by: 'person'; note?: string; callOpen?: true };
  /** A change or disclosure through the API, besides the events of its effects. */
  'operator.acted': { name: string; action: string };
  /** Without its address, which may contain a secret. */
  'webhook.changed': { webhook: string; change: WebhookChange; by: string };
  'suppression.added': Entry & { source?: string; expiresAt?: number | null };
  'suppression.removed': Entry & { source: string };
}

/** Name of an event in the log. */
export type EventType = keyof EventData;

interface Told<Type extends EventType> {
  /** Service time. */
  at: number;
  campaignId: string;
  type: Type;
  recipientId?: string;
  attemptId?: string;
  batchId?: string;
}

/** A log entry before it gets its number. `type` determines `data`. */
export type NewEvent = {
  [Type in EventType]: Told<Type> & (EventData[Type] extends undefined ? { data?: undefined } : { data: EventData[Type] });
}[EventType];
