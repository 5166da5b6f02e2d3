import { reasonText } from './causes.ts';
import { adjustableTermNames, adjustableTerms, termText } from '../../campaign/file/settings/adjustable.ts';
import { adjustable } from '../../campaign/file/settings/pacing.ts';
import { fullPace } from '../../rules/pacing/pace-control.ts';
import { purposeOf } from '../../rules/consent.ts';
import { faultWords } from '../../rules/caller-choice.ts';
import type { EventData, EventType, NewEvent, WithdrawReason } from '../../rules/events.ts';
import type { AdjustableTerms } from '../../rules/campaign-rules.ts';
import type { CampaignState } from '../../rules/lifecycle.ts';
import { describeHookEvent } from './hooks.ts';
import { percent, plural, span } from '../../shared/input/figures.ts';
import { printable } from '../../shared/input/printable.ts';
import type { CampaignEvent } from '../../ledger/events.ts';

type Describer<Type extends EventType> = (event: Extract<NewEvent, { type: Type }>) => string | null;

const withdrawWords: Readonly<Record<WithdrawReason, string>> = {
  paused: 'the campaign is paused',
  ended: 'the campaign calls nobody new',
  withdrawn: 'an operator withdrew a row of it',
  suppressed: 'a number of it is on the do-not-call list now',
  outside_hours: 'the calling hours of a recipient end',
  campaign_end: 'the end of the campaign is near',
  row_expired: 'a row of it expires',
  missing_consent: 'a consent in it is not given yet',
  consent_expired: 'a consent in it is too old now',
  consent_revoked: 'a person of it took consent back',
  carried_out_twice: 'the service has it more than once',
};

/** Text of live events; null: events of single recipients, which are only counted. */
const tellers: { readonly [Type in EventType]: Describer<Type> | null } = {
  'campaign.imported': ({ data }) => `${plural(data.rows, 'row')} imported, ${data.rejected} rejected`,
  'campaign.edited': ({ data }) => describeEdit(data),
  'campaign.adjusted': ({ data }) => `an operator changed ${describeAdjustment(data)}`,
  'account.adjusted': ({ data }) => describeAccountChange(data),
  'house.changed': ({ data }) =>
    data.rules === null ? 'the house rules are lifted' : `version ${data.version} of the house rules holds for all campaigns`,
  'account.pace': ({ data }) => describePace(data),
  'campaign.state': ({ data }) => describeState(data),
  'round.started': ({ data }) => `round ${data.round} begins`,
  'round.ended': ({ data }) => `round ${data.round} has ended`,
  'caller.out': ({ data }) => `caller number ${printable(data.phoneNumberId)} is taken out: it ${faultWords[data.reason]}`,
  'caller.in': ({ data }) => `caller number ${printable(data.phoneNumberId)} may call again`,
  'clock.stepped': ({ data }) => describeClockStep(data),
  'pilot.drawn': ({ data }) => `${plural(data.size, 'row')} ${data.size === 1 ? 'is' : 'are'} called before anybody else`,
  'pilot.ended': ({ data }) =>
    data.passed ? 'the pilot is over, and the campaign goes on' : 'the pilot is over, and nobody else is called before it is resumed',
  'pilot.voided': () => 'the agent was changed since the pilot: nobody else is called before it is resumed',
  'pilot.decided': ({ data }) =>
    data.decision === 'go_on' ? 'an operator has seen the pilot: everybody is called' : 'an operator has another sample called first',
  'gate.read': ({ data }) => (data.verdict === 'trips' ? `a gate has tripped: ${data.measure} ${data.hits} of ${data.of}` : null),
  'goal.reached': ({ data }) =>
    `the goal is reached (${plural(data.goals, 'talk')}): nobody else is called, but whom a call back was promised`,
  'batch.screened': (event) => describeHookEvent(event, batchName(event)),
  'hook.delivered': (event) => describeHookEvent(event, batchName(event)),
  'hook.failed': (event) => describeHookEvent(event, batchName(event)),
  'batch.withdrawing': (event) =>
    `${batchName(event)}: ${withdrawWords[event.data.reason]}, so what still waits at the service is taken back`,
  'batch.posting': (event) =>
    event.data.k === 1 ? null : `${batchName(event)}: sending ${plural(event.data.size, 'call')} again, POST ${event.data.k}`,
  'post.verdict': (event) => describeVerdict(batchName(event), event.data),
  'batch.state': (event) => describeBatchState(batchName(event), event.data),
  'recipient.decided': (event) => `${rowName(event)}: an operator decided that ${describeDecision(event.data)}`,
  'suppression.added': (event) => {
    if (event.data.source?.startsWith('possible:') === true)
      return 'a person opted out in a record that matches no call: no number it may belong to is called any more';
    const purpose = purposeOf(event.campaignId);
    if (purpose !== null) return `a person took back consent for ${purpose}`;
    return event.attemptId === undefined
      ? 'a number was put on the do-not-call list of this campaign'
      : `${rowName(event)} asked not to be called again, and will not be`;
  },
  'suppression.removed': ({ campaignId }) => {
    const purpose = purposeOf(campaignId);
    return purpose === null
      ? 'a number was taken off the do-not-call list of this campaign'
      : `a newer consent for ${purpose} is on record`;
  },
  'webhook.changed': ({ data }) => `webhook ${printable(data.webhook)}: ${webhookWords[data.change]}`,
  'operator.acted': (event) => {
    const { name, action } = event.data;
    const whose = event.recipientId === undefined ? '' : `, ${rowName(event)}`;
    return `${printable(name)}: ${action.replaceAll('_', ' ')}${whose}`;
  },
  'campaign.rows': null,
  'attempt.planned': null,
  'attempt.posted': null,
  'attempt.released': null,
  'attempt.matched': null,
  'attempt.settled': null,
  'attempt.corrected': null,
  'attempt.result': null,
  'callback.promised': null,
  'callback.moved': null,
  'callback.unclear': (event) => `${rowName(event)} asked for a call back, and when is not clear (${wordsOf(event.data.reason)}): decide`,
  'callback.ended': (event) =>
    event.data.state === 'missed' ? `${rowName(event)} was not called back in time (${wordsOf(event.data.reason)})` : null,
  'batch.planned': null,
  'recipient.deferred': null,
  'recipient.outcome': null,
  'recipient.retried': null,
  'schedule.fired': null,
  'schedule.failed': null,
  'recipient.added': null,
  'recipient.corrected': null,
  'recipient.withdrawn': null,
};

export const eventTypes = Object.keys(tellers) as EventType[];

export const describedEvents = eventTypes.filter((type) => tellers[type] !== null);

/** Text of a log event without recipient data; null when it adds nothing to the previous one. */
export function describeEvent(event: NewEvent): string | null {
  return (tellers[event.type] as Describer<EventType> | null)?.(event) ?? null;
}

function wordsOf(reason: string | null): string {
  return reason === null ? 'no reason is on record' : reasonText(reason);
}

function describeEdit(data: EventData['campaign.edited']): string {
  const parts = (['added', 'corrected', 'withdrawn'] as const)
    .filter((kind) => data[kind] > 0)
    .map((kind) => `${plural(data[kind], 'row')} ${kind}`);
  return parts.join(', ');
}

const webhookWords: Readonly<Record<EventData['webhook.changed']['change'], string>> = {
  added: 'added',
  removed: 'removed',
  paused: 'paused',
  resumed: 'resumed',
  failing: 'nothing was delivered for days, and is tried every hour',
  recovered: 'delivers again',
  disabled: 'disabled, since its receiver wants nothing more (status 410)',
};

const limitNames: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(adjustable).map(([name, { label }]) => [name, label.toLowerCase()])),
  ...Object.fromEntries(adjustableTermNames.map((name) => [name, adjustableTerms[name].label.toLowerCase()])),
  keepFree: 'part kept free',
};

function isTerm(key: string): key is keyof AdjustableTerms {
  return Object.hasOwn(adjustableTerms, key);
}

/** Changed limits: `concurrent calls from 10 to 40`. */
export function describeAdjustment({ from, to }: { from: object; to: object }): string {
  return Object.keys(to)
    .map((key) => `${limitNames[key] ?? key} from ${describeLimit(key, from)} to ${describeLimit(key, to)}`)
    .join(', ');
}

function describeAccountChange(data: EventData['account.adjusted']): string {
  const { service } = data.to;
  return service === undefined
    ? `an operator changed limits of the account: ${describeAdjustment(data)}`
    : `an operator moved the campaign to its service's new address, ${printable(service)}`;
}

function describeLimit(key: string, limits: object): string {
  if (isTerm(key)) return termText(key, limits as AdjustableTerms);
  const value = (limits as Readonly<Record<string, number | null>>)[key];
  if (value == null) return 'no limit';
  return key === 'keepFree' ? percent(value / 1000) : String(value);
}

/** Reports each reduction, but of the recovery only its end. */
function describePace({ from, to }: EventData['account.pace']): string | null {
  if (to < from) return `the service limits requests: all limits are at ${percent(to / 1000)}, and rise as it accepts batches`;
  return to === fullPace ? 'the service has accepted enough batches: all limits are at 100 % again' : null;
}

function describeClockStep({ clock, byMs }: EventData['clock.stepped']): string {
  const whose = clock === 'machine' ? "a worker's clock" : "the service's clock";
  const way = byMs < 0 ? 'back' : 'forward';
  return `${whose} was set ${way} by ${span(Math.abs(byMs))}: calls that were open then get no negative outcome`;
}

const stateWords: Readonly<Record<CampaignState, string>> = {
  importing: 'importing',
  draft: 'imported',
  running: 'dialling',
  paused: 'paused',
  scheduled: 'waiting for its start time',
  draining: 'draining: no further dials, open calls are still collected',
  failed: 'failed',
  completed: 'completed',
  cancelled: 'cancelled',
};

function describeState({ to, reason }: EventData['campaign.state']): string {
  return `${stateWords[to]}${reason === null || reason === '' ? '' : `: ${printable(reason)}`}`;
}

function describeVerdict(name: string, { verdict, status }: EventData['post.verdict']): string | null {
  const code = status === null ? '' : ` (status ${status})`;
  switch (verdict) {
    // The batch state reports what follows.
    case 'confirmed':
      return null;
    case 'refused': {
      const next =
        status === 400 || status === 422
          ? '; once the records confirm the refusal, smaller batches will show which calls the service does not accept'
          : '';
      return `${name}: refused by the service${code}${next}`;
    }
    case 'not_sent':
      return status === 429
        ? `${name}: asked to wait (429), nothing was queued; it will be sent again`
        : `${name}: no connection, nothing was sent; it will be sent again`;
    case 'unknown':
      return `${name}: no usable answer${code}; it counts as sent, and nothing more is sent until the records have been checked`;
  }
}

function describeBatchState(name: string, data: EventData['batch.state']): string | null {
  switch (data.state) {
    case 'confirmed':
      if (data.by === 'evidence') return `${name}: found in the service's records, so it was accepted`;
      if (data.by === 'look_up') return `${name}: found at the service by its mark, so it was accepted`;
      return data.calls_initiated === null ? `${name}: accepted` : `${name}: ${plural(data.calls_initiated, 'call')} accepted`;
    case 'held':
      return data.by === 'person'
        ? `${name}: an operator gave up its records; what became of its calls stays unknown`
        : `${name}: no record shows it; an operator must decide what happens to its rows`;
    case 'redial':
      return data.by === 'campaign'
        ? `${name}: no record shows it; dialled again, as the campaign file says (on_unknown)`
        : `${name}: an operator decided to dial again`;
    case 'given_up':
      return `${name}: an operator gave it up`;
    case 'released':
      return `${name}: released, its recipients wait again`;
    case 'not_sent':
      return data.by === 'look_up' ? `${name}: looked up at the service, which never carried it out; its recipients wait again` : null;
    case 'refused':
    case 'unknown':
      return null;
  }
}

function describeDecision(data: EventData['recipient.decided']): string {
  switch (data.decision) {
    case 'theirs':
      return `${printable(data.conversation)} is the record of its call`;
    case 'not_theirs':
      return `${printable(data.conversation)} is not the record of its call`;
    case 'redial':
      return 'it is to be dialled again';
    case 'give_up':
      return 'it is left as it is';
  }
}

function batchName(event: NewEvent): string {
  return `batch ${event.batchId?.split('/').at(-1) ?? '?'}`;
}

/** `row 17`: the second part of a recipient's or attempt's id. */
function rowName(event: NewEvent): string {
  const id = event.recipientId ?? event.attemptId ?? '';
  const row = id.slice(event.campaignId.length + 1).split('/')[0];
  return row === undefined || row === '' ? 'a recipient' : `row ${row}`;
}

/** Before `withInstants`. Without the event's data, which may hold phone numbers. */
export function eventAsJson(event: CampaignEvent): Record<string, unknown> {
  const { seq, at, type, campaignId, batchId = null, recipientId = null, attemptId = null } = event;
  return { seq, at, type, campaignId, batchId, recipientId, attemptId, text: describeEvent(event) };
}
