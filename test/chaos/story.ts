import type { Breach } from '../world/judge/judge.ts';
import type { Effect } from './effect-log.ts';
import type { Intervention } from './acts.ts';
import type { Ending } from './small-campaign.ts';
import { nameStep } from '../world/faults.ts';

/** Of a whole story. */
export const mostLines = 20;
const mostEffects = 12;

/** What was done to a campaign, in the order of its effects, and what the service saw of it: at most 20 lines. */
export function eventText({ scenario, done, effects, sandbox }: Ending, breaches: readonly Breach[]): string {
  const { people, batchSize, dialect, troubles } = scenario;
  const wrong = troubles.map(({ nth, effect }) => `POST ${String(nth)}: ${effect.type}${'when' in effect ? ` ${effect.when}` : ''}`);
  const head = [
    `${scenario.name}: ${people.join(', ')}; batches of ${batchSize}, dialect ${dialect}${wrong.length === 0 ? '' : `; ${wrong.join(', ')}`}`,
    ...breaches.slice(0, 2).map(({ rule, to, what }) => `  ${rule}${to === null ? '' : ` ${to}`}: ${what}`),
  ];
  const begun = effects[0]?.at ?? 0;
  const at = (instant: number): string => `${Math.round((instant - begun) / 1000)} s`;
  const telling = effects.filter((effect) => isTelling(effect, done));
  const shown = telling.slice(0, mostEffects);
  const lines = shown.map(({ who, step, operation, nth, what, strike, transitions, at: instant }) => {
    const moved = transitions.filter((each) => each.startsWith('batch')).join(', ');
    return `  ${at(instant)} ${who}, ${operation}, effect ${nth + 1}: ${what}${moved === '' ? '' : ` (${moved})`}${strike === null ? '' : `: ${strike.toUpperCase()}`}${tellClock(done, step, nth)}`;
  });
  if (telling.length > shown.length) lines.push(`  … and ${telling.length - shown.length} more effects`);
  const calls = sandbox
    .calls()
    .filter(({ to }) => breaches.some((breach) => breach.to === to))
    .map(
      (call) =>
        `  service: called ${call.to} at ${at(call.acceptedAt)} for ${call.requestId}: ${call.result ?? 'under way'}${call.optedOut ? ', opted out' : ''}`,
    );
  return [...head, ...lines, ...calls.slice(0, mostLines - head.length - lines.length)].join('\n');
}

function tellClock(done: readonly Intervention[], step: number, nth: number): string {
  const { clockByMs } = done.find((each) => each.step === step && each.nth === nth) ?? {};
  return clockByMs === undefined ? '' : `, ${nameStep(clockByMs) ?? 'CLOCK SET'}`;
}

/** Struck, dialling, or beside another process. */
function isTelling(effect: Effect, done: readonly Intervention[]): boolean {
  const disturbed = done.some(({ step, nth }) => step === effect.step && nth === effect.nth);
  const moves = effect.transitions.some((transition) => transition.startsWith('batch'));
  return disturbed || moves || effect.strike !== null || effect.what.startsWith('POST');
}
