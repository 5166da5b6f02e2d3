import type { FaultRuleInput } from '../../../src/sandbox/faults/rule.ts';
import type { Random } from '../../../src/sandbox/core/random.ts';
import type { RunningSandbox } from '../../../src/sandbox/start.ts';
import type { WorldEvent } from '../mix.ts';
import { hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { strangerAt, type Person } from '../population.ts';

export const template = 'Hello {{ name }}, this is the clinic about your visit.';
export const numberedTemplate = 'Hello {{ name }} number {{ n }}, this is the clinic about your visit.';

export function control(path: string, body: unknown) {
  return (sandbox: RunningSandbox): Promise<unknown> =>
    fetch(`${sandbox.url}/_sandbox/${path}`, {
      method: path.startsWith('world') ? 'PUT' : 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
}

export function several(random: Random, [least, most]: [number, number], make: (index: number) => WorldEvent): WorldEvent[] {
  return Array.from({ length: Math.floor(random.between(least, most + 1)) }, (_, index) => make(index));
}

/** While the first calls are placed, while they are open, or some time within the hour. */
export function soon(random: Random): number {
  return Math.round(random.between(0, random.pick([10_000, 5 * minuteMs, hourMs])));
}

export function clockStep(afterMs: number, ms: number): WorldEvent {
  return { afterMs, happen: control('clock/step', { ms: Math.round(ms) }) };
}

/** A step and the way back: soon, or once it is seen that nobody is called while the clocks are far apart. */
export function clockSteps(random: Random, ms: number): WorldEvent[] {
  const afterMs = soon(random);
  const backMs = random.pick([20_000, 5 * minuteMs, hourMs]);
  return [clockStep(afterMs, ms), clockStep(afterMs + (random.chance(0.6) ? backMs : 3 * hourMs), -ms)];
}

type Whose = 'our template' | 'ours' | 'ours unanswered' | 'our words to a stranger' | 'other words';

/** Another system or a colleague has the same agent call. */
export function foreignCall(random: Random, people: Person[], whose: Whose, afterMs: number = soon(random)): WorldEvent {
  const person = random.pick(people as [Person, ...Person[]]);
  const ours = whose === 'ours' || whose === 'ours unanswered';
  const name = whose === 'our template' ? 'Zebulon Quartermain' : person.name;
  const words = whose === 'other words' ? 'Good day, this is the library about a book.' : template.replace('{{ name }}', name);
  const body = {
    phone_number_id: 'pn_main',
    to: ours ? person.e164 : strangerAt(Math.floor(random.between(0, 60))),
    first_message: words,
    result: whose === 'ours unanswered' ? random.pick(['busy', 'no_answer']) : 'answered',
  };
  return { afterMs, happen: control('outbound', body) };
}

export function inboundCall(random: Random, people: Person[]): WorldEvent {
  const from = random.chance(0.6) ? random.pick(people as [Person, ...Person[]]).e164 : strangerAt(7);
  return { afterMs: soon(random), happen: control('inbound', { phone_number_id: 'pn_main', from }) };
}

export function carriedOutRefusals(random: Random): FaultRuleInput[] {
  const nths = [1, 2, 3].filter(() => random.chance(0.5));
  return (nths.length === 0 ? [1] : nths).map((nth) => {
    const status = random.pick([400, 422, 429]);
    const effect =
      status === 429
        ? ({ type: 'rate_limited', when: 'after', seconds: random.pick([2, 60, 600]) } as const)
        : ({ type: 'error', status, when: 'after' } as const);
    return { id: `refused-14-${nth}`, operation: 'batch_calls' as const, nth, effect };
  });
}

/** No connection for minutes; then a clock that is behind, and soon right again. */
export function restart(random: Random): { events: WorldEvent[]; faults: FaultRuleInput[] } {
  // As often as not nothing has been dialled before.
  const [downAt, downMs] = random.chance(0.5)
    ? [0, random.between(5_000, 40_000)]
    : [random.between(10_000, 20 * minuteMs), random.between(minuteMs, 6 * minuteMs)];
  const upAt = downAt + downMs;
  const backMs = Math.round(random.between(5, 28) * minuteMs);
  const period = { from: downAt / 1000, until: upAt / 1000 };
  return {
    faults: [{ id: 'reset-down', operation: '*', period, effect: { type: 'reset', when: 'before' } }],
    events: [clockStep(upAt, -backMs), clockStep(upAt + random.pick([15_000, 5 * minuteMs, hourMs]), backMs)],
  };
}

/** A list that lags more than a campaign waits. */
export function listLag(random: Random): FaultRuleInput {
  const ms = Math.round(random.between(10 * minuteMs, 3 * hourMs));
  const period = { from: 0, until: random.between(1, 4) * 3_600 };
  return { id: 'hide-list', operation: 'list_conversations', period, effect: { type: 'hide', ms } };
}
