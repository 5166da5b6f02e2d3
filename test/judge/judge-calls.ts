import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';

/** What any two calls of the service's own log must not be to each other. */
export type CallRule = 'two calls at once' | 'called after an opt-out' | 'called after an answer';

/** Whether the service gave a call back before the telephone rang: nobody was called. */
export function isTakenBack({ dialedAt, endedAt }: Pick<CallTruth, 'dialedAt' | 'endedAt'>): boolean {
  return dialedAt === null && endedAt !== null;
}

type Facts = Pick<CallTruth, 'to' | 'requestId' | 'acceptedAt' | 'endedAt' | 'result' | 'optedOut'>;

/** The caller's own name for the request; which records belong to it is another matter. */
export function campaignOf({ requestId }: Pick<CallTruth, 'requestId'>): string | undefined {
  return requestId?.split('/')[0];
}

/** One person may answer two campaigns; an opt-out holds for all of them. */
function ruleBroken(earlier: Facts, later: Facts, isAsked: boolean): CallRule | null {
  if (later.acceptedAt < (earlier.endedAt ?? Infinity)) return 'two calls at once';
  if (earlier.optedOut) return 'called after an opt-out';
  const [one, other] = [campaignOf(earlier), campaignOf(later)];
  const isOneCampaign = one === undefined || other === undefined || one === other;
  return earlier.result === 'answered' && isOneCampaign && !isAsked ? 'called after an answer' : null;
}

/**
 * Each two calls to one person of which the later breaks a promise. `personOf`: by number, unless a person has several. `asksAgain`:
 * whether the person asked in a call for another one; nobody does when left out.
 */
export function* judgeCalls<Call extends Facts>(
  calls: readonly Call[],
  personOf: (call: Call) => string | undefined = ({ to }) => to,
  asksAgain: (call: Call) => boolean = () => false,
): Generator<{ rule: CallRule; earlier: Call; later: Call }> {
  const byPerson = new Map<string | undefined, Call[]>();
  for (const later of calls.toSorted((a, b) => a.acceptedAt - b.acceptedAt)) {
    const before = byPerson.get(personOf(later)) ?? [];
    for (const earlier of before) {
      const rule = ruleBroken(earlier, later, asksAgain(earlier));
      if (rule !== null) yield { rule, earlier, later };
    }
    byPerson.set(personOf(later), [...before, later]);
  }
}

const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** Whether a clock in the zone stands within hours as a list has them, such as `Mon-Fri 22:00-02:00, Sat 10:00-12:00`. */
export function isWithin(hours: string, zone: string, at: number): boolean {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const { weekday = '', hour = '', minute = '' } = Object.fromEntries(parts.formatToParts(at).map(({ type, value }) => [type, value]));
  const [today, now] = [days.indexOf(weekday), `${hour}:${minute}`];
  return hours.split(/\s*[,;]\s*/).some((part) => {
    const [, first = 'Mon', last = first, from = '', to = ''] = /^(?:(\w{3})(?:-(\w{3}))? )?([\d:]+)-([\d:]+)$/.exec(part) ?? [];
    const isNamed = /^[A-Z]/.test(part);
    const holds = (day: number) => !isNamed || (day - days.indexOf(first) + 7) % 7 <= (days.indexOf(last) - days.indexOf(first) + 7) % 7;
    if (from < to) return holds(today) && from <= now && now < to;
    return (holds(today) && from <= now) || (holds((today + 6) % 7) && now < to);
  });
}
