import type { CallerFault } from './caller-choice.ts';
import type { AdjustableLimit, AdjustableRules, CampaignRules, HouseRules } from './campaign-rules.ts';
import type { ConsentFault } from './consent.ts';
import type { Disposition } from './disposition.ts';
import type { BatchState, PostVerdict } from './ledger.ts';
import type { CampaignState } from './lifecycle.ts';
import type { Outcome } from './outcome.ts';
import type { ServiceApi } from './service-api.ts';
import type { LoggedTerms } from './row-terms.ts';
import type { EndedPromise, UnclearReason } from './callback-rules.ts';
import type { GateReading } from './gates.ts';
import type { AfterTalk } from './talk-results.ts';

type Limits = Partial<Record<AdjustableLimit | 'keepFree', number | null>>;

/** Why calls that wait at the service are taken back: the campaign is stopped, or one of them may not be made any more. */
export type WithdrawReason =
  'paused' | 'ended' | 'withdrawn' | 'suppressed' | 'outside_hours' | 'campaign_end' | 'row_expired' | 'carried_out_twice' | ConsentFault;

interface CallEnd {
  disposition: Disposition;
  detail: string | null;
  counted: boolean;
}

/** `failing`: nothing was taken for days; `disabled`: its receiver said for good that it wants nothing (410). */
export type WebhookChange = 'added' | 'removed' | 'paused' | 'resumed' | 'failing' | 'recovered' | 'disabled';

/** Keyed hashes of a row: where it leads, when and to whom; and what its cells are. */
export interface RowHash {
  hash: string;
  cells: string;
  version?: RowHashVersion;
}

/** How the terms of a row are hashed. Older logs have none: there the terms of that time were hashed as a list. */
export type RowHashVersion = 2;

interface Entry {
  e164: string;
  /** `account`, a campaign id, or `purpose:` and a word. */
  scope: string;
}

/** What came of one run of a schedule: a campaign of its own, or the reason why there is none. */
export interface Firing {
  scheduleId: string;
  /** The campaign that it is to start. */
  campaignId: string;
  /** Real time at which it was due. */
  scheduledAt: number;
  /** Null when the campaign was started. Holds no number and no cell of a list. */
  failure: string | null;
}

/** `until`: the call is requested from `dueAt` on and before this instant, or the promise is not kept. */
interface CallbackTimes {
  promise: string;
  dueAt: number;
  until: number;
}

/** A clock that was set while the campaign ran. */
export interface ClockStep {
  clock: 'service' | 'machine';
  /** Milliseconds on that clock; negative when it was set back. */
  byMs: number;
}

/** Something that a hook is told: the end of a round, or a pause that the campaign made by itself. */
export type NoticeFacts = { hook: 'on_completion'; round: number } | { hook: 'on_pause'; round: number; pausedAt: number };

/** What each kind of event tells. Times are epoch milliseconds of service time unless the name says `Real`. */
export interface EventData {
  'campaign.imported': {
    hash: string;
    rows: number;
    firstRow: number | null;
    rejected: number;
    rules: CampaignRules;
    /** By which API the service is asked, where it is not the contract's. */
    api?: ServiceApi;
    timeZoneData: string;
  };
  /** Keyed hashes of the rows from this one on, as base64url; each is split as in `RowHash`. */
  'campaign.rows': { from: number; hashes: string; cells: string; version?: RowHashVersion };
  /** `letQueued`: what waits at the service is left to ring while it is paused. */
  'campaign.state': { from: CampaignState; to: CampaignState; reason: string | null; resumeAt?: number; letQueued?: true };
  'campaign.edited': { added: number; corrected: number; withdrawn: number };
  'campaign.adjusted': { from: Partial<AdjustableRules>; to: Partial<AdjustableRules>; by: 'person' };
  /** Limits of the account, or the address of its service. */
  'account.adjusted': { from: Limits & { service?: string }; to: Limits & { service?: string }; by: 'person' };
  /** The rules that all campaigns are held to, under the scope of all; null: none any more. */
  'house.changed': { version: number; rules: HouseRules | null };
  /** In thousandths of the limits. */
  'account.pace': { from: number; to: number };
  'round.started': { round: number };
  'round.ended': { round: number };
  'batch.planned': { size: number };
  /** How many the pre-dial hook was asked about, and what it said; `eligible`: ids of attempts. */
  'batch.screened': { asked: number; refused: number; later: number; eligible: readonly string[] };
  /** `speed`: service milliseconds per real one, where it is not 1. */
  'batch.posting': { k: number; size: number; deadlineReal: number; caller: string; speed?: number };
  'batch.state':
    | { state: 'confirmed'; by: 'reply'; service_batch_id: string; calls_initiated: number | null }
    | { state: 'confirmed'; by: 'evidence' }
    /** The service has the mark of its request. */
    | { state: 'confirmed'; by: 'look_up'; service_batch_id: string }
    | { state: 'refused'; status: number | null }
    | { state: 'released'; reason?: string }
    /** By a person who gave up its records; else because none was found. */
    | { state: 'held'; by?: 'person' }
    /** `look_up`: the service does not have the mark of its request, and never will. */
    | { state: 'not_sent'; by?: 'look_up' }
    | { state: 'redial'; by: 'person' | 'campaign' }
    | { state: 'given_up'; by: 'person' }
    | { state: Extract<BatchState, 'unknown'> };
  /** The service is about to be asked to give back the calls of it that still wait there. */
  'batch.withdrawing': { reason: WithdrawReason };
  'post.verdict': { k: number; verdict: PostVerdict; status: number | null };
  'attempt.planned': undefined;
  /** With all that the row says of the call, for the judge to know whom it leads to and when it might be placed. */
  'attempt.posted': LoggedTerms & {
    k: number;
    /** Where the campaign has a pre-dial hook. */
    screened?: string | null;
  };
  /** `report`: the service says so of the call itself. */
  'attempt.released': { reason: string; by?: 'report' };
  'attempt.matched': { conversation: string; evidence: string; by?: 'person' };
  /** `report`: there is no record of it, only what the service says of the call itself. */
  'attempt.settled': CallEnd & { by?: 'report' };
  /** What the talk came to: a word of the campaign file. `asks`: it asks for another call, and does not end its row. */
  'attempt.result': { result: string; asks?: AfterTalk['kind'] };
  /** The rows that are called first, drawn before anybody is, or once more by the word of a person. */
  'pilot.drawn': { sample: number; size: number; rows: readonly number[] };
  /** All of them were called once and read to their end. `passed`: it goes on by itself. */
  'pilot.ended': { sample: number; passed: boolean; readings: readonly GateReading[] };
  /** The agent was changed while it was called or after it had passed: a person decides anew. */
  'pilot.voided': { sample: number };
  'pilot.decided': { sample: number; decision: 'go_on' | 'sample'; by: 'person' };
  /** A gate that is always asked was asked. */
  'gate.read': GateReading;
  /** Talks that came to the goal, of as many as were wanted: nobody else is called but whom a call back was promised. */
  'goal.reached': { goals: number };
  /** Somebody is to be called back: by their own record, or by the word of a person. */
  'callback.promised': CallbackTimes & { by?: 'person' };
  /** It was put off, or the row was corrected. */
  'callback.moved': CallbackTimes;
  /** Nobody can tell when they want to be called back; a person decides. */
  'callback.unclear': { promise: string; reason: UnclearReason };
  'callback.ended': { promise: string; state: EndedPromise; reason: string | null };
  'attempt.corrected': CallEnd & { from: Disposition | null; by?: 'person' };
  'recipient.deferred': { until: number; reason: string; count: number };
  /** Of its last calls, how many there were and how many failed. */
  'caller.out': { phoneNumberId: string; reason: CallerFault; calls: number; failed: number };
  'caller.in': { phoneNumberId: string };
  'clock.stepped': ClockStep;
  /** Null: an outcome is taken back. */
  'recipient.outcome': { outcome: Outcome | null; reason: string | null };
  'recipient.retried': { outcome: Outcome | null; by: 'person' };
  'recipient.decided':
    { decision: 'theirs' | 'not_theirs'; conversation: string; by: 'person' } | { decision: 'redial' | 'give_up'; by: 'person' };
  'hook.delivered': NoticeFacts;
  'hook.failed': (NoticeFacts | { hook: 'pre_dial' }) & { fault: string; status?: number | null };
  'schedule.fired': Firing;
  'schedule.failed': Firing;
  'recipient.added': RowHash;
  /** `outcome`: what the correction takes back. */
  'recipient.corrected': RowHash & { outcome: Outcome | null; numberChanged: boolean };
  /** `callOpen`: its call was planned or open, and what waits of it at the service is to be asked back. */
  'recipient.withdrawn': { by: 'person'; note?: string; callOpen?: true };
  /** A change that somebody made through the API, or what they were shown; beside the events that tell what came of it. */
  'operator.acted': { name: string; action: string };
  /** Never its address, of which a part may be a secret. */
  'webhook.changed': { webhook: string; change: WebhookChange; by: string };
  'suppression.added': Entry & { source?: string; expiresAt?: number | null };
  'suppression.removed': Entry & { source: string };
}

/** The name under which an event stands in the log. */
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

/** A line of the log, before it has its number. `type` decides what `data` holds. */
export type NewEvent = {
  [Type in EventType]: Told<Type> & (EventData[Type] extends undefined ? { data?: undefined } : { data: EventData[Type] });
}[EventType];
