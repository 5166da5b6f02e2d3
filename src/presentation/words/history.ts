import { dispositionOf, type Disposition } from '../../rules/disposition.ts';
import type { EventType } from '../../rules/events.ts';
import { instantText } from '../../shared/input/times.ts';
import { printable } from '../../shared/input/printable.ts';
import { actorOf, type CampaignEvent } from '../../ledger/events.ts';
import type { NumberViewRow } from '../../ledger/read/callee.ts';
import { reasonText, verdictReason } from './causes.ts';
import { describeEvent } from './events.ts';
import type { ServiceRecord, Turn } from '../../service/port/call-service.ts';

type Describer<Type extends EventType> = (event: Extract<CampaignEvent, { type: Type }>, call: string) => string;

/** Text for events of one row; other events use `describeEvent`. */
const tellers: { readonly [Type in EventType]?: Describer<Type> } = {
  'attempt.planned': (_event, call) => `${call} planned`,
  'attempt.posted': ({ data: { k } }, call) => `${call} requested from the service${k === 1 ? '' : `, again (request ${k})`}`,
  'attempt.released': ({ data }, call) => `${call} not placed: ${reasonText(data.reason)}`,
  'attempt.matched': ({ data: { by, conversation, evidence } }, call) => {
    const how = by === 'person' ? 'an operator said so' : `by ${reasonText(evidence)}`;
    return `${call} is conversation ${printable(conversation)} (${how})`;
  },
  'attempt.settled': ({ data }, call) => `${call} ended: ${endText(data)}`,
  'attempt.corrected': ({ data }, call) => `${call} corrected to: ${endText(data)}${data.by === 'person' ? ', by an operator' : ''}`,
  'attempt.result': ({ data: { result } }, call) => `${call} came to: ${reasonText(result)}`,
  'callback.promised': ({ data: { dueAt, by } }) =>
    `to be called back at ${instantText(dueAt)}${by === 'person' ? ', as an operator said' : ', as they asked'}`,
  'callback.moved': ({ data: { dueAt } }) => `to be called back at ${instantText(dueAt)} instead`,
  'callback.unclear': ({ data: { reason } }) => `asked for a call back, and when is not clear: ${reasonText(reason)}`,
  'callback.ended': ({ data: { state, reason } }) => `call back ${state}${reason === null ? '' : `: ${reasonText(reason)}`}`,
  'operator.acted': ({ data }, call) => `${printable(data.name)}: ${data.action.replaceAll('_', ' ')}, ${call}`,
  'recipient.outcome': ({ data: { outcome, reason } }) =>
    outcome === null ? 'outcome taken back: the row waits again' : `outcome ${outcome}${reason === null ? '' : `: ${reasonText(reason)}`}`,
  'recipient.retried': () => 'an operator put it into the next round',
  'recipient.added': () => 'an operator added the row',
  'recipient.corrected': ({ data }) => `an operator corrected the row${data.numberChanged ? ', and its number' : ''}`,
  'recipient.withdrawn': ({ data }) =>
    `an operator withdrew the row${data.callOpen === true ? '; its open call is asked back from the service' : ''}`,
};

/** Text of an event in one row's history, without phone numbers or spoken words. */
export function eventText(event: CampaignEvent): string {
  const call = event.attemptId === undefined ? 'call' : `call ${event.attemptId.split('/').at(-1) ?? ''}`;
  const describe = tellers[event.type] as Describer<EventType> | undefined;
  const description = describe?.(event, call) ?? describeEvent(event) ?? event.type;
  const actor = actorOf(event);
  if (actor === null) return description;
  const who = `${printable(actor.name)} (role ${actor.role})`;
  return description.includes('an operator') ? description.replace('an operator', () => who) : `${description}, by ${who}`;
}

export function dispositionText(disposition: string): string {
  return Object.hasOwn(dispositionOf, disposition) ? dispositionOf[disposition as Disposition].text : reasonText(disposition);
}

function endText({ disposition, detail, counted }: { disposition: Disposition; detail: string | null; counted: boolean }): string {
  const detailText = detail === null ? '' : ` (${reasonText(detail)})`;
  return `${dispositionOf[disposition].text}${detailText}${counted ? '' : '; it does not use up an attempt'}`;
}

/** `May be called next at …, because …`, by row and current rules. */
export function nextCallText({ campaign, recipient, verdict }: NumberViewRow): string {
  if (recipient.state === 'open') return 'A call is planned or open.';
  if (recipient.state === 'done') return `It has its outcome, ${recipient.outcome ?? 'none'}, and is not called again in this round.`;
  if (verdict === null) return `It waits, and the campaign is ${campaign.state}.`;
  if (verdict.verdict === 'final') return `It will not be called: ${verdictReason(verdict.reason)}.`;
  const paused = campaign.state === 'paused' ? ' once the campaign is resumed' : '';
  if (verdict.verdict === 'dial') return `It may be called now${paused}, as soon as its turn comes.`;
  return `It may be called at ${instantText(verdict.until)}${paused}: ${verdictReason(verdict.reason)}.`;
}

/** Facts of the call, then the turns. `row` is the list's, for a campaign's call. */
export function renderTranscript(row: number | null, { facts, turns }: ServiceRecord): string {
  const { conversationId, startedAt, durationMs, callResult, collected, evaluation } = facts;
  const head = [
    ...(row === null ? [] : [`Row           ${row}`]),
    `Conversation  ${printable(conversationId)}`,
    ...(startedAt === null ? [] : [`Started       ${new Date(startedAt).toISOString()}`]),
    ...(durationMs === null ? [] : [`Duration      ${durationMs / 1000} s`]),
    ...(callResult === null ? [] : [`Call          ${callResult}`]),
    ...describeValues('Collected', collected),
    ...describeValues('Evaluation', evaluation),
  ];
  const turnTexts = turns.map(describeTurn);
  return `${[...head, '', ...(turnTexts.length === 0 ? ['(nothing was said)'] : turnTexts)].join('\n')}\n`;
}

function describeValues(label: string, values: Record<string, unknown> | null): string[] {
  return Object.entries(values ?? {}).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return printable(`${label.padEnd(14)}${name} = ${text}`);
  });
}

function describeTurn({ speaker, text, time }: Turn): string {
  return printable(`${time === null ? '' : `[${time}] `}${speaker}: ${text ?? '(no words)'}`);
}
