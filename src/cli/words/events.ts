import { fullPace } from '../../domain/pacing/pace-control.ts';
import { faultWords, type CallerFault } from '../../domain/caller-choice.ts';
import type { CampaignEvent, EventType } from '../../ledger/events.ts';
import { tellHook } from './hooks.ts';
import { percent, plural, span } from '../../input/figures.ts';
import { printable } from '../terminal/printable.ts';

/** What people want to hear of as it happens; what befalls each single recipient is counted instead. */
export const toldEvents: readonly EventType[] = [
  'campaign.imported',
  'campaign.edited',
  'campaign.adjusted',
  'account.adjusted',
  'account.pace',
  'campaign.state',
  'round.started',
  'round.ended',
  'caller.out',
  'caller.in',
  'clock.stepped',
  'batch.screened',
  'batch.posting',
  'batch.state',
  'hook.delivered',
  'hook.failed',
  'post.verdict',
  'recipient.decided',
  'suppression.added',
  'suppression.removed',
];

/** An event of the log in words, without any recipient's data; null when it adds nothing to the one before it. */
export function tellEvent(event: CampaignEvent): string | null {
  const data = event.data ?? {};
  switch (event.type) {
    case 'campaign.imported':
      return `${plural(number(data['rows']), 'row')} imported, ${number(data['rejected'])} rejected`;
    case 'campaign.edited':
      return tellEdit(data);
    case 'campaign.adjusted':
      return `a person changed ${tellAdjustment(data)}`;
    case 'account.adjusted':
      return tellMove(data) ?? `a person changed limits of the account: ${tellAdjustment(data)}`;
    case 'account.pace':
      return tellPace(number(data['from']), number(data['to']));
    case 'campaign.state':
      return tellState(String(data['to']), data['reason']);
    case 'round.started':
      return `round ${number(data['round'])} begins`;
    case 'round.ended':
      return `round ${number(data['round'])} has ended`;
    case 'caller.out':
      return `caller number ${callerName(data)} is taken out: it ${faultWords[data['reason'] as CallerFault] ?? 'may not call'}`;
    case 'caller.in':
      return `caller number ${callerName(data)} may call again`;
    case 'clock.stepped':
      return tellStep(data['clock'] === 'machine' ? "a worker's clock" : "the service's clock", number(data['byMs']));
    case 'batch.screened':
    case 'hook.delivered':
    case 'hook.failed':
      return tellHook(event, batchName(event));
    case 'batch.posting':
      return number(data['k']) === 1
        ? null
        : `${batchName(event)}: sending ${plural(number(data['size']), 'call')} again, POST ${number(data['k'])}`;
    case 'post.verdict':
      return tellVerdict(event, String(data['verdict']), data['status']);
    case 'batch.state':
      return tellBatchState(event, data);
    case 'recipient.decided':
      return tellDecision(event, data);
    case 'suppression.added':
      if (typeof data['source'] === 'string' && data['source'].startsWith('possible:'))
        return 'somebody opted out in a record that belongs to nobody: every number it may belong to is called no more';
      return event.attemptId === undefined
        ? 'a number was put on the do-not-call list of this campaign'
        : `${rowName(event)} asked not to be called again, and will not be`;
    case 'suppression.removed':
      return 'a number was taken off the do-not-call list of this campaign';
    case 'campaign.rows':
    case 'attempt.planned':
    case 'attempt.posted':
    case 'attempt.released':
    case 'attempt.matched':
    case 'attempt.settled':
    case 'attempt.corrected':
    case 'batch.planned':
    case 'recipient.deferred':
    case 'recipient.outcome':
    case 'recipient.retried':
    case 'schedule.fired':
    case 'schedule.failed':
    case 'recipient.added':
    case 'recipient.corrected':
    case 'recipient.withdrawn':
      return null;
  }
}

function tellEdit(data: Record<string, unknown>): string {
  const parts = (['added', 'corrected', 'withdrawn'] as const)
    .filter((kind) => number(data[kind]) > 0)
    .map((kind) => `${plural(number(data[kind]), 'row')} ${kind}`);
  return parts.join(', ');
}

const limitNames: Readonly<Record<string, string>> = {
  maxConcurrentCalls: 'concurrent calls',
  startsPerMinute: 'starts per minute',
  batchSize: 'batch size',
  priority: 'priority',
  keepFree: 'part kept free',
};

/** What a person changed: `concurrent calls from 10 to 40`. */
export function tellAdjustment({ from, to }: Record<string, unknown>): string {
  const [before, after] = [from, to] as Record<string, number | null>[];
  return Object.entries(after ?? {})
    .map(
      ([key, value]) => `${limitNames[key] ?? key} from ${tellLimit(key, before?.[key])} to ${tellLimit(key, value)}`,
    )
    .join(', ');
}

function tellMove({ to }: Record<string, unknown>): string | null {
  const { service } = (to ?? {}) as { service?: string };
  return service === undefined
    ? null
    : `a person moved the campaign to its service's new address, ${printable(service)}`;
}

function tellLimit(key: string, value: number | null | undefined): string {
  if (value == null) return 'no limit';
  return key === 'keepFree' ? percent(value / 1000) : String(value);
}

/** Of the way back only the end is told. */
function tellPace(from: number, to: number): string | null {
  if (to < from)
    return `the service limits requests: all limits are at ${percent(to / 1000)}, and rise as it accepts batches`;
  return to === fullPace ? 'the service has accepted enough batches: all limits are at 100 % again' : null;
}

function tellStep(whose: string, byMs: number): string {
  const way = byMs < 0 ? 'back' : 'forward';
  return `${whose} was set ${way} by ${span(Math.abs(byMs))}: calls that were open then end in nothing negative`;
}

function tellState(to: string, reason: unknown): string {
  const why = typeof reason === 'string' && reason !== '' ? `: ${printable(reason)}` : '';
  const words: Readonly<Record<string, string>> = {
    running: 'dialling',
    paused: 'paused',
    scheduled: 'waiting for its start time',
    draining: 'draining: no further dials, open calls are still collected',
    failed: 'failed',
    completed: 'completed',
    cancelled: 'cancelled',
  };
  return `${words[to] ?? to}${why}`;
}

function tellVerdict(event: CampaignEvent, verdict: string, status: unknown): string | null {
  const name = batchName(event);
  const code = typeof status === 'number' ? ` (status ${status})` : '';
  // What follows from it is told with the batch's state.
  if (verdict === 'confirmed') return null;
  if (verdict === 'refused') {
    const next =
      status === 400 || status === 422
        ? '; smaller batches will show which of its calls it does not take, once the records bear the refusal out'
        : '';
    return `${name}: refused by the service${code}${next}`;
  }
  if (verdict === 'not_sent') {
    return status === 429
      ? `${name}: told to wait (429), nothing was queued; it will be sent again`
      : `${name}: no connection, nothing was sent; it will be sent again`;
  }
  return `${name}: no answer that can be used${code}; it counts as sent, and nothing more is sent until the records have been looked at`;
}

function tellBatchState(event: CampaignEvent, data: Record<string, unknown>): string | null {
  const name = batchName(event);
  switch (data['state']) {
    case 'confirmed':
      return data['by'] === 'evidence'
        ? `${name}: found in the service's records, so it was accepted`
        : `${name}: ${plural(number(data['calls_initiated']), 'call')} accepted`;
    case 'held':
      return `${name}: no trace of it in the records; a person has to decide (carillon resolve)`;
    case 'redial':
      return data['by'] === 'campaign'
        ? `${name}: no trace of it in the records; dialled again, as the campaign file says (on_unknown)`
        : `${name}: a person said to dial again`;
    case 'given_up':
      return `${name}: a person gave it up`;
    case 'released':
      return `${name}: given back, its recipients wait again`;
    default:
      return null;
  }
}

function tellDecision(event: CampaignEvent, data: Record<string, unknown>): string {
  const conversation = printable(String(data['conversation']));
  const words: Readonly<Record<string, string>> = {
    theirs: `${conversation} is the record of its call`,
    not_theirs: `${conversation} is not the record of its call`,
    redial: 'it is to be dialled again',
    give_up: 'it is left as it is',
  };
  return `${rowName(event)}: a person said that ${words[String(data['decision'])] ?? 'something is so'}`;
}

/** `batch 3`: the last part of its id. */
function batchName(event: CampaignEvent): string {
  return `batch ${event.batchId?.split('/').at(-1) ?? '?'}`;
}

/** `row 17`: a recipient's id ends with its row, an attempt's with row and number. */
function rowName(event: CampaignEvent): string {
  const id = event.recipientId ?? event.attemptId ?? '';
  const row = id.slice(event.campaignId.length + 1).split('/')[0];
  return row === undefined || row === '' ? 'a recipient' : `row ${row}`;
}

function callerName(data: Record<string, unknown>): string {
  return printable(String(data['phoneNumberId']));
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
