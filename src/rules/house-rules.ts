import type { CallerLimits } from './caller-choice.ts';
import type { CampaignRules, AccountRules } from './campaign-rules.ts';

/** Last merged rules per frozen rules: results are cached per object. */
const lastHeld = new WeakMap<CampaignRules, { house: string; rules: CampaignRules }>();

/** A campaign's rules under stored account rules (JSON); null: none. */
export function underAccountRules(rules: CampaignRules, accountRules: string | null): CampaignRules {
  if (accountRules === null) return rules;
  const known = lastHeld.get(rules);
  if (known?.house === accountRules) return known.rules;
  const held = withAccountRules(rules, JSON.parse(accountRules) as AccountRules);
  lastHeld.set(rules, { house: accountRules, rules: held });
  return held;
}

/** Merges account rules: all caps apply, the lower limit of each number, and hours of both must be open (`calendarsFor`). */
export function withAccountRules(rules: CampaignRules, accountRules: AccountRules | null): CampaignRules {
  if (accountRules === null) return rules;
  const limits = stricterLimits(rules.callers.limits ?? null, accountRules.callerLimits);
  const callers = limits === null ? rules.callers : { ...rules.callers, limits };
  const held = { ...rules, house: accountRules, callers, caps: [...rules.caps, ...accountRules.caps] };
  ownOf.set(held, rules);
  return held;
}

const ownOf = new WeakMap<CampaignRules, CampaignRules>();

/** The campaign's own rules, without account rules. */
export function withoutAccountRules(rules: CampaignRules): CampaignRules {
  return ownOf.get(rules) ?? rules;
}

function stricterLimits(own: CallerLimits | null, account: CallerLimits | null): CallerLimits | null {
  if (own === null || account === null) return own ?? account;
  const spreadMs = Math.max(own.spreadMs ?? 0, account.spreadMs ?? 0);
  const lowest = { perHour: lower(own.perHour, account.perHour), perDay: lower(own.perDay, account.perDay) };
  return { ...own, ...lowest, ...(spreadMs > 0 && { spreadMs }) };
}

function lower(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/** Settings of a campaign file that the account rules require. */
export type AccountRequirement = 'consent' | 'opt_out';

/** What the account rules require and the campaign lacks; it then places no calls. */
export function missingRequirements({ house: accountRules, consent, optOut, dispositions }: CampaignRules): AccountRequirement[] {
  if (accountRules === undefined) return [];
  const hearsOptOuts = optOut.length > 0 || dispositions.some(({ disposition }) => disposition === 'opted_out');
  return [
    ...(accountRules.requires.consent && consent === undefined ? ['consent' as const] : []),
    ...(accountRules.requires.optOut && !hearsOptOuts ? ['opt_out' as const] : []),
  ];
}

/** Why a campaign that lacks something places no calls, without a full stop. */
export function missingRequirementsText(lacks: readonly AccountRequirement[], version: number): string {
  return `version ${version} of the house rules requires ${lacks.join(' and ')}, and the campaign file has no such setting`;
}

/** Whether the account rules set nothing. */
export function isEmptyAccountRules({ calendar, caps, callerLimits, requires }: Omit<AccountRules, 'version'>): boolean {
  const isBound = calendar.hours !== null || calendar.closedOn.length + caps.length > 0 || callerLimits !== null;
  return !isBound && !requires.consent && !requires.optOut;
}
