import { hasEnded, pausedByOperator } from '../../rules/lifecycle.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import type { IdleReason, IdleReasonName } from '../../ledger/read/idle-reason.ts';
import { count, plural, span } from '../../shared/input/figures.ts';
import { printable } from '../../shared/input/printable.ts';
import type { CampaignCounters } from '../../../workflows/messages.ts';
import { callerLimitText, waitingText } from './causes.ts';
import { sinceText, when, type Reader } from './reader.ts';

/** State of a campaign at Temporal and the service, beyond the database. */
export interface WorkflowStatus {
  /** Why Temporal did not answer; null: it did. */
  unreachable: string | null;
  /** Workers on this database; null: unknown. */
  workers: number | null;
  /** False: the workflow was terminated, or Temporal lost it. Null: unknown. */
  runs: boolean | null;
  failing: FailingStep | null;
  /** Why the service does not answer; null: it does. */
  service: string | null;
}

export interface FailingStep {
  activity: string;
  tries: number;
  /** Safe to store in a history: kind of failure, without the service's words. */
  message: string;
  nextAt: number | null;
}

/** Known reasons that a campaign places no call; the single source for page, command line and API. */
export interface Why {
  campaign: Campaign;
  /** Unresolved rows that need a decision, once the campaign has ended. */
  undecided: number;
  idle: IdleReason | null;
  /** Last event of the campaign, in service time. */
  movedAt: number | null;
  /** Undefined: not known yet. Null: nothing relevant at Temporal. */
  look: WorkflowStatus | null | undefined;
}

export function notYetKnown(campaign: Campaign): Why {
  return { campaign, undecided: 0, idle: null, movedAt: null, look: undefined };
}

const words: Readonly<Record<Exclude<IdleReasonName, 'paused'>, (calls: string, idle: IdleReason) => string>> = {
  scheduled: () => 'its start time has not been reached',
  draining: () => 'it places no further calls and collects the open ones',
  planned: (calls) => `${calls} planned but not sent yet`,
  not_sent: (calls) => `the service cannot be reached: ${calls} not sent`,
  not_witnessed: (calls) => `Temporal did not record the request: ${calls} not sent`,
  rate_limited: (calls) => `the service asked for a pause (429)${calls === '' ? '' : `: ${calls} not sent`}`,
  unknown: (calls) => `it is not known whether ${calls} were placed: the records are checked first`,
  canary: () => 'the service has yet to show its first conversation',
  words: () => 'open calls that begin with the same words must end first',
  pilot: () => 'the calls of the pilot must be over and read, then it is decided about',
  caller_limit: (_, { usedBy }) => callerLimitText(usedBy),
  goal: () => 'the talks that are open, or not analysed yet, may reach the goal (stop_at.overshoot: none)',
  due: () => 'no one is due yet',
  capacity: (_, { calls, lines }) => `calling: ${count(calls ?? 0)} of ${plural(lines ?? 0, 'line')}`,
  share: () => "other campaigns use the account's concurrency",
  pacing: () => 'starts_per_minute allows no more',
  collecting: () => 'everyone has been called; the last results are still to come',
  rows: () => 'everyone has been called; it waits for rows that are added (stays_open)',
};

/** Real ms; a call that lasts longer deserves attention. */
const recentMs = 600_000;

/** Fixes by the operator: a button on the page, a command at the command line. */
export type WhyAction = 'resume' | 'recover' | 'decide' | 'limits';

export interface WhyReading {
  /**
   * For programs: the planner's reason, the rule that delays the next due rows, or `undecided`, `failed`, `unknown_yet`, `temporal`,
   * `workflow_lost`, `no_worker`, `service`, `step_fails`, `key_refused`, `breaker`.
   */
  cause: string;
  /** One sentence without full stop: why, since when, until when. */
  text: string;
  /** Fix, in sentences; null: it ends by itself. */
  todo: string | null;
  action: WhyAction | null;
}

/** Why no call is placed now; null: nothing prevents calls. */
export function readingOf(known: Why, at: Reader): WhyReading | null {
  const { campaign, undecided, idle, movedAt, look: workflow } = known;
  if (undecided > 0)
    return {
      cause: 'undecided',
      text: `all calls are done, but ${plural(undecided, 'row is', 'rows are')} undecided, until a person decides about them`,
      todo: actionText('decide', campaign, at),
      action: 'decide',
    };
  if (campaign.state === 'failed')
    return {
      cause: 'failed',
      text: `${stateWords('failed', campaign)}, until the cause is fixed and it is started again`,
      todo: 'Fix what the reason names, then start it again with its file: carillon start.',
      action: null,
    };
  if (hasEnded(campaign) || campaign.round === 0) return null;
  // A pause or a future start time outranks what Temporal and the service report.
  if (idle === null || !['paused', 'scheduled'].includes(idle.reason)) {
    if (workflow === undefined) return { cause: 'unknown_yet', text: 'it is being looked up', todo: null, action: null };
    const outside = outsideText(campaign, workflow, at);
    if (outside !== null) {
      const { cause, todo, action } = outside;
      return { cause, text: [outside.why, sinceText(movedAt, at), outside.until].filter((part) => part !== '').join(', '), todo, action };
    }
  }
  if (idle === null) return null;
  const { reason, rule, since, until } = idle;
  const calls = idle.calls === null ? '' : plural(idle.calls, 'call');
  const why = reason === 'paused' ? stateWords('paused', campaign) : rule === null ? words[reason](calls, idle) : waitingText(rule);
  const end = until === null ? endWords(campaign, reason, at) : `until ${when(until, at)}`;
  // While calls follow each other, the last start says nothing about the next.
  const isPassing = ['capacity', 'share', 'pacing'].includes(reason) && since !== null && isRecent(since, at);
  const text = [why, isPassing ? '' : sinceText(since, at), end].filter((part) => part !== '').join(', ');
  return { ...fixOf(campaign, idle, at), text };
}

function fixOf(campaign: Campaign, { reason, rule }: IdleReason, at: Reader): Omit<WhyReading, 'text'> {
  if (reason === 'paused') {
    const cause = pauseCause(campaign);
    const first: Readonly<Record<string, string>> = {
      key_refused: 'Give the workers a key that the service takes (SVC_API_KEY) and restart them; then resume it.',
      breaker:
        'Look at the calls that failed: a wrong caller number, a blocked trunk, a broken agent. It resumes by itself after its cool-down.',
      paused_by_itself: 'Fix what the reason names, then resume it. If it is resumed before, it pauses again.',
    };
    return {
      cause,
      todo: [first[cause] ?? '', actionText('resume', campaign, at)].filter((part) => part !== '').join(' '),
      action: 'resume',
    };
  }
  const cause = rule ?? reason;
  const todo = todos[cause] ?? null;
  return { cause, todo, action: ['capacity', 'pacing'].includes(cause) ? 'limits' : null };
}

const todos: Readonly<Record<string, string>> = {
  outside_hours: 'Nothing: calls begin by themselves when the hours open. To call at other times, change the calling hours.',
  frequency_cap: 'Nothing: calls begin by themselves when the limit permits. It protects people from too many calls, over all campaigns.',
  attempt_budget: 'Nothing: the next attempts begin by themselves when the budget permits.',
  capacity: 'Nothing: the next call begins as soon as a line is free. For more calls at once, change the limits.',
  pacing: 'Nothing: starts are spread over time. For more calls a minute, change the limits.',
  not_sent: 'Nothing: the same calls are sent as soon as the service answers. If it stays away, look at its status and at SVC_BASE_URL.',
  not_witnessed: 'Look at the Temporal server: a call is sent only once it is on record there.',
  canary: 'Nothing, while the first calls are under way. If no conversation ever appears, look at the agent at the service.',
  rate_limited: 'Nothing: calls go on when the pause that the service asked for is over.',
};

function pauseCause({ stateReason }: Campaign): string {
  if (stateReason === null || stateReason === pausedByOperator) return 'paused';
  if (/refuses the (?:API )?key/.test(stateReason)) return 'key_refused';
  return /breaker\./.test(stateReason) ? 'breaker' : 'paused_by_itself';
}

function actionText(action: WhyAction, { campaignId }: Campaign, { atCommandLine }: Reader): string {
  const ways: Readonly<Record<WhyAction, readonly [press: string, enter: string]>> = {
    resume: ['Resume it when the time has come.', `carillon resume ${campaignId} resumes it.`],
    recover: ['Recover it: it goes on where it stopped.', `carillon recover ${campaignId} lets it go on where it stopped.`],
    decide: ['Decide about them: nobody calls them again before that.', `carillon resolve ${campaignId} decides about them.`],
    limits: ['Change the limits.', `carillon adjust ${campaignId} changes the limits.`],
  };
  return ways[action][atCommandLine === true ? 1 : 0];
}

function isRecent(since: number, { clock, now }: Reader): boolean {
  return now - clock.atReal(since) < recentMs;
}

/** `paused by a person`, or `paused: the key is refused`. */
function stateWords(word: string, { stateReason }: Campaign): string {
  const reason = printable(stateReason ?? '').replace(/\.$/, '');
  return reason.startsWith(word) ? reason : reason === '' ? word : `${word}: ${reason}`;
}

interface Outside extends Pick<WhyReading, 'cause' | 'todo' | 'action'> {
  why: string;
  until: string;
}

/** Reasons outside the planner's knowledge: Temporal and the service. */
function outsideText(campaign: Campaign, workflow: WorkflowStatus | null, at: Reader): Outside | null {
  const { campaignId } = campaign;
  if (workflow === null) return null;
  if (workflow.unreachable !== null)
    return {
      cause: 'temporal',
      why: firstSentence(workflow.unreachable),
      until: 'until it is back',
      todo: 'Start the Temporal server again, or correct TEMPORAL_ADDRESS. Nothing is lost; the campaign goes on by itself.',
      action: null,
    };
  if (workflow.runs === false)
    return {
      cause: 'workflow_lost',
      why: `Temporal does not run ${campaignId}`,
      until: `until carillon recover ${campaignId} restarts it`,
      todo: actionText('recover', campaign, at),
      action: 'recover',
    };
  if (workflow.workers === 0)
    return {
      cause: 'no_worker',
      why: 'no worker is running for this database',
      until: 'until carillon worker is started',
      todo: 'Run carillon worker on a machine that reaches this database. The campaign goes on by itself.',
      action: null,
    };
  // Any failing step is a consequence while the service is away, so the service comes first.
  if (workflow.service !== null)
    return {
      cause: 'service',
      why: firstSentence(workflow.service),
      until: 'until it answers',
      todo: todos['not_sent'] ?? null,
      action: null,
    };
  if (workflow.failing === null || workflow.failing.activity === 'collect') return null;
  const { activity, tries, message, nextAt } = workflow.failing;
  return {
    cause: 'step_fails',
    why: `${activity} fails: ${firstLine(printable(message))} (${plural(tries, 'try', 'tries')})`,
    until: nextAt === null ? '' : `tried again in ${span((nextAt - at.now) * (at.serviceNow === undefined ? 1 : at.clock.speed))}`,
    todo: 'Fix what the message names; the log of the worker says more. It is tried again by itself.',
    action: null,
  };
}

function endWords({ campaignId }: Campaign, reason: IdleReasonName, { atCommandLine }: Reader): string {
  if (reason === 'paused')
    return atCommandLine === true
      ? `until carillon resume ${campaignId} (or carillon cancel ${campaignId})`
      : 'until a person resumes or cancels it';
  if (reason === 'not_sent') return 'until it answers';
  return '';
}

function firstSentence(text: string): string {
  return (printable(text).split(/\.\s/)[0] ?? '').replace(/\.$/, '');
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').replace(/\.$/, '');
}

export function workflowText(workflow: WorkflowStatus, counters: CampaignCounters | null = null): string {
  if (workflow.unreachable !== null) return `not asked: ${firstLine(workflow.unreachable)}`;
  const workers = workflow.workers === null ? '' : `${plural(workflow.workers, 'worker')} on this database`;
  return [counters?.state ?? '', workers].filter((part) => part !== '').join(', ');
}

/** As JSON: `why`, and `fix`. */
export function readingAsJson(reading: WhyReading | null): Record<string, unknown> {
  if (reading === null) return { why: null, fix: null };
  const { text, ...fix } = reading;
  return { why: text, fix };
}

/** As JSON, before `withInstants`; instants are service time. */
export function idleReasonAsJson(idle: IdleReason | null): Record<string, unknown> | null {
  if (idle === null) return null;
  const { since, until, ...facts } = idle;
  return { ...facts, sinceAt: since, untilAt: until };
}

/** `workflow`: its own counters, or why they are unknown; `temporal`: the server's view. */
export function workflowAsJson(workflow: WorkflowStatus | null, counters: CampaignCounters | null): Record<string, unknown> {
  if (workflow === null) return { workflow: null, temporal: null };
  const { service, ...temporal } = workflow;
  return {
    workflow: counters ?? { unknown: workflow.unreachable ?? 'no worker answers for it: carillon worker starts one' },
    temporal,
    service: { unreachable: service },
  };
}
