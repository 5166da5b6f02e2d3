import { hasEnded } from '../../rules/lifecycle.ts';
import type { ServiceClock } from '../../service/port/service-clock.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import type { IdleReason, IdleReasonName } from '../../ledger/read/idle-reason.ts';
import { instantText } from '../../shared/input/times.ts';
import { count, plural, span } from '../../shared/input/figures.ts';
import { printable } from '../../shared/input/printable.ts';
import type { CampaignCounters } from '../../../workflows/messages.ts';
import { waitingText } from './causes.ts';

/** What Temporal and the service know of a campaign that the database does not. */
export interface WorkflowLook {
  /** Why Temporal could not be asked; null: it has answered. */
  unreachable: string | null;
  /** Workers on this database; null: not known. */
  workers: number | null;
  /** False: its workflow was ended by hand, or Temporal has lost it. Null: not known. */
  runs: boolean | null;
  /** A step that failed and is tried again. */
  failing: FailingStep | null;
  /** Why the service does not answer whoever asks; null: it does. */
  service: string | null;
}

export interface FailingStep {
  activity: string;
  tries: number;
  /** In words that stand in a history: of the kind of failure, without what the service said. */
  message: string;
  /** Real epoch milliseconds; null: it is being tried now. */
  nextAt: number | null;
}

/** What keeps a campaign from calling anybody now, as far as it is known: the one reading from which every face takes its sentence. */
export interface Why {
  campaign: Campaign;
  /** Rows of which a person has to decide what became of them, once it has ended. */
  undecided: number;
  /** What the planner waits for. */
  idle: IdleReason | null;
  /** When anything last happened in it, in service time. */
  movedAt: number | null;
  /** Undefined: it is not known yet. Null: Temporal has nothing to say of it, or nothing that matters. */
  look: WorkflowLook | null | undefined;
}

/** Of a campaign of which nothing is known yet. */
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
  due: () => 'no one is due yet',
  capacity: (_, { calls, lines }) => `calling: ${count(calls ?? 0)} of ${plural(lines ?? 0, 'line')}`,
  share: () => "other campaigns use the account's concurrency",
  pacing: () => 'starts_per_minute allows no more',
  collecting: () => 'everyone has been called; the last results are still to come',
};

/** Real milliseconds; a call that lasts longer is worth a look. */
const recentMs = 600_000;

/** Who reads it, and when. */
export interface Reader {
  clock: ServiceClock;
  now: number;
  /** At a command line, where the command that ends it can be entered; default: on the page, or for programs. */
  atCommandLine?: true;
}

/** In one sentence why nobody is called now, since when, and until when; null while nothing stands in the way. */
export function whyText({ campaign, undecided, idle, movedAt, look }: Why, at: Reader): string | null {
  if (undecided > 0)
    return `all calls are done, but ${plural(undecided, 'row is', 'rows are')} undecided, until a person decides about them`;
  if (campaign.state === 'failed') return `${stateWords('failed', campaign)}, until the cause is fixed and it is started again`;
  if (hasEnded(campaign) || campaign.round === 0) return null;
  // A person, or the start time, keeps it still whatever else is the matter.
  if (idle === null || !['paused', 'scheduled'].includes(idle.reason)) {
    if (look === undefined) return 'it is being looked up';
    const outside = outsideText(campaign, look, at);
    if (outside !== null) return [outside.why, sinceText(movedAt, at), outside.until].filter((part) => part !== '').join(', ');
  }
  if (idle === null) return null;
  const { reason, rule, since, until } = idle;
  const calls = idle.calls === null ? '' : plural(idle.calls, 'call');
  const why = reason === 'paused' ? stateWords('paused', campaign) : rule === null ? words[reason](calls, idle) : waitingText(rule);
  const end = until === null ? endWords(campaign, reason, at) : `until ${when(until, at)}`;
  // While one call follows the other, the last that began says nothing of the next.
  const isPassing = ['capacity', 'share', 'pacing'].includes(reason) && since !== null && isRecent(since, at);
  return [why, isPassing ? '' : sinceText(since, at), end].filter((part) => part !== '').join(', ');
}

function isRecent(since: number, { clock, now }: Reader): boolean {
  return now - clock.atReal(since) < recentMs;
}

/** `paused by a person`, or `paused: the key is refused`. */
function stateWords(word: string, { stateReason }: Campaign): string {
  const said = printable(stateReason ?? '').replace(/\.$/, '');
  return said.startsWith(word) ? said : said === '' ? word : `${word}: ${said}`;
}

interface Outside {
  why: string;
  until: string;
}

/** What Temporal and the service say of it, which the planner cannot know. */
function outsideText({ campaignId }: Campaign, look: WorkflowLook | null, { now }: { now: number }): Outside | null {
  if (look === null) return null;
  if (look.unreachable !== null) return { why: firstSentence(look.unreachable), until: 'until it is back' };
  if (look.runs === false)
    return {
      why: `Temporal does not run ${campaignId}`,
      until: `until carillon recover ${campaignId} restarts it`,
    };
  if (look.workers === 0) return { why: 'no worker is running for this database', until: 'until carillon worker is started' };
  if (look.failing === null || look.failing.activity === 'collect')
    return look.service === null ? null : { why: firstSentence(look.service), until: 'until it answers' };
  const { activity, tries, message, nextAt } = look.failing;
  const why = `${activity} fails: ${firstLine(printable(message))} (${plural(tries, 'try', 'tries')})`;
  return { why, until: nextAt === null ? '' : `tried again in ${span(nextAt - now)}` };
}

function endWords({ campaignId }: Campaign, reason: IdleReasonName, { atCommandLine }: Reader): string {
  if (reason === 'paused')
    return atCommandLine === true
      ? `until carillon resume ${campaignId} (or carillon cancel ${campaignId})`
      : 'until a person resumes or cancels it';
  if (reason === 'not_sent') return 'until it answers';
  return '';
}

function sinceText(since: number | null, at: { clock: ServiceClock; now: number }): string {
  return since === null ? '' : `since ${when(since, at)}`;
}

/** An instant of the service's time, and how far that is in the time of whoever reads it. */
function when(instant: number, { clock, now }: { clock: ServiceClock; now: number }): string {
  const away = clock.atReal(instant) - now;
  return `${instantText(instant)} (${away > 0 ? `in ${span(away)}` : `${span(-away)} ago`})`;
}

/** What is the matter, without what to do about it. */
function firstSentence(text: string): string {
  return (printable(text).split(/\.\s/)[0] ?? '').replace(/\.$/, '');
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').replace(/\.$/, '');
}

/** Who is at work; lines of a status. */
export function workflowText(look: WorkflowLook, counters: CampaignCounters | null = null): string {
  if (look.unreachable !== null) return `not asked: ${firstLine(look.unreachable)}`;
  const workers = look.workers === null ? '' : `${plural(look.workers, 'worker')} on this database`;
  return [counters?.state ?? '', workers].filter((part) => part !== '').join(', ');
}

/** The same for programs, before `withInstants`; instants are of service time. */
export function idleReasonAsJson(idle: IdleReason | null): Record<string, unknown> | null {
  if (idle === null) return null;
  const { since, until, ...facts } = idle;
  return { ...facts, sinceAt: since, untilAt: until };
}

/** `workflow`: what it says of itself, or why that is not known; `temporal`: what its server says. */
export function workflowAsJson(look: WorkflowLook | null, counters: CampaignCounters | null): Record<string, unknown> {
  if (look === null) return { workflow: null, temporal: null };
  const { service, ...temporal } = look;
  return {
    workflow: counters ?? { unknown: look.unreachable ?? 'no worker answers for it: carillon worker starts one' },
    temporal,
    service: { unreachable: service },
  };
}
