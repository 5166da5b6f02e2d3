import type { CallerLimits } from './caller-choice.ts';
import type { CampaignRules, HouseRules } from './campaign-rules.ts';

/** Last merged rules per frozen rules: results are cached per object. */
const lastHeld = new WeakMap<CampaignRules, { house: string; rules: CampaignRules }>();

/** A campaign's rules under stored account rules (JSON); null: none. */
export function underHouse(rules: CampaignRules, house: string | null): CampaignRules {
  if (house === null) return rules;
  const known = lastHeld.get(rules);
  if (known?.house === house) return known.rules;
  const held = withHouse(rules, JSON.parse(house) as HouseRules);
  lastHeld.set(rules, { house, rules: held });
  return held;
}

/** Merges account rules: all caps apply, the lower limit of each number, and hours of both must be open (`calendarsFor`). */
export function withHouse(rules: CampaignRules, house: HouseRules | null): CampaignRules {
  if (house === null) return rules;
  const limits = stricterLimits(rules.callers.limits ?? null, house.callerLimits);
  const callers = limits === null ? rules.callers : { ...rules.callers, limits };
  const held = { ...rules, house, callers, caps: [...rules.caps, ...house.caps] };
  ownOf.set(held, rules);
  return held;
}

const ownOf = new WeakMap<CampaignRules, CampaignRules>();

/** The campaign's own rules, without account rules. */
export function withoutHouse(rules: CampaignRules): CampaignRules {
  return ownOf.get(rules) ?? rules;
}

function stricterLimits(own: CallerLimits | null, house: CallerLimits | null): CallerLimits | null {
  if (own === null || house === null) return own ?? house;
  const spreadMs = Math.max(own.spreadMs ?? 0, house.spreadMs ?? 0);
  const lowest = { perHour: lower(own.perHour, house.perHour), perDay: lower(own.perDay, house.perDay) };
  return { ...own, ...lowest, ...(spreadMs > 0 && { spreadMs }) };
}

function lower(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/** Settings of a campaign file that the account rules require. */
export type HouseRequirement = 'consent' | 'opt_out';

/** What the account rules require and the campaign lacks; it then places no calls. */
export function lacksOfHouse({ house, consent, optOut, dispositions }: CampaignRules): HouseRequirement[] {
  if (house === undefined) return [];
  const hearsOptOuts = optOut.length > 0 || dispositions.some(({ disposition }) => disposition === 'opted_out');
  return [
    ...(house.requires.consent && consent === undefined ? ['consent' as const] : []),
    ...(house.requires.optOut && !hearsOptOuts ? ['opt_out' as const] : []),
  ];
}

/** Why a campaign that lacks something places no calls, without a full stop. */
export function houseLackText(lacks: readonly HouseRequirement[], version: number): string {
  return `version ${version} of the house rules requires ${lacks.join(' and ')}, and the campaign file has no such setting`;
}

/** Whether the account rules set nothing. */
export function isOpenHouse({ calendar, caps, callerLimits, requires }: Omit<HouseRules, 'version'>): boolean {
  const isBound = calendar.hours !== null || calendar.closedOn.length + caps.length > 0 || callerLimits !== null;
  return !isBound && !requires.consent && !requires.optOut;
}
