import type { CallerLimits } from '../../rules/caller-choice.ts';
import type { CampaignRules, AccountRules } from '../../rules/campaign-rules.ts';
import type { FrequencyCap } from '../../rules/frequency-caps.ts';
import { withoutAccountRules } from '../../rules/house-rules.ts';
import { weekText } from '../../rules/hours/weekly-hours.ts';
import { plural, span } from '../../shared/input/figures.ts';

const mostDates = 6;

/** Account rules as sentences without a full stop; empty without rules. */
export function accountRuleLines(accountRules: Omit<AccountRules, 'version'> | null): string[] {
  return accountRules === null ? [] : partsOf(accountRules).map(({ text }) => text);
}

/** Which account rules are stricter than the campaign's own. */
export function accountRuleSentences(rules: CampaignRules): string[] {
  const { house: accountRules } = rules;
  if (accountRules === undefined) return [];
  const own = withoutAccountRules(rules);
  const lines = partsOf(accountRules).map(({ text, binds }) => `${text}${binds(own) ? '' : ' (the campaign file is as strict)'}.`);
  return [
    `Version ${accountRules.version} holds for every campaign of the database; the stricter of it and the campaign file binds.`,
    ...lines,
  ];
}

interface Part {
  text: string;
  /** True when it forbids what the campaign's own rules allow. */
  binds: (own: CampaignRules) => boolean;
}

function partsOf({ calendar, caps, callerLimits, requires }: Omit<AccountRules, 'version'>): Part[] {
  const { hours, closedOn } = calendar;
  const always = () => true;
  const closed = plural(closedOn.length, 'day');
  const dates = closedOn.length > mostDates ? `${closed} from ${closedOn[0] ?? ''} to ${closedOn.at(-1) ?? ''}` : closedOn.join(', ');
  return [
    ...(hours === null ? [] : [{ text: `Nobody is called outside of ${weekText(hours)} of their own time`, binds: always }]),
    ...(closedOn.length === 0 ? [] : [{ text: `Nobody is called on ${dates}`, binds: always }]),
    ...caps.map((cap) => ({
      text: capText(cap),
      binds: (own: Pick<CampaignRules, 'caps'>) => !own.caps.some((one) => isAsStrict(one, cap)),
    })),
    ...limitParts('perHour', callerLimits, 'an hour'),
    ...limitParts('perDay', callerLimits, 'a day'),
    ...(callerLimits?.spreadMs === undefined
      ? []
      : [{ text: `Between two calls of a caller number lie ${span(callerLimits.spreadMs)} at least`, binds: always }]),
    ...(requires.consent
      ? [
          {
            text: 'No campaign calls without consent in its file',
            binds: ({ consent }: Pick<CampaignRules, 'consent'>) => consent === undefined,
          },
        ]
      : []),
    ...(requires.optOut
      ? [
          {
            text: 'No campaign calls without opt_out in its file',
            binds: ({ optOut }: Pick<CampaignRules, 'optOut'>) => optOut.length === 0,
          },
        ]
      : []),
  ];
}

function limitParts(of: 'perHour' | 'perDay', limits: CallerLimits | null, stretch: string): Part[] {
  const most = limits?.[of] ?? null;
  if (most === null) return [];
  const binds = ({ callers }: CampaignRules) => (callers.limits?.[of] ?? Infinity) > most;
  return [{ text: `No caller number makes more than ${plural(most, 'call')} in ${stretch}`, binds }];
}

function capText(cap: FrequencyCap): string {
  const whom = cap.by === 'number' ? 'a number' : 'a person';
  return 'afterTalkMs' in cap
    ? `No call to ${whom} within ${span(cap.afterTalkMs)} of a talk`
    : `At most ${plural(cap.calls, 'call')} to ${whom} within ${span(cap.withinMs)}`;
}

function isAsStrict(own: FrequencyCap, accountCap: FrequencyCap): boolean {
  if (own.by !== accountCap.by) return false;
  if ('afterTalkMs' in own || 'afterTalkMs' in accountCap)
    return 'afterTalkMs' in own && 'afterTalkMs' in accountCap && own.afterTalkMs >= accountCap.afterTalkMs;
  return own.calls <= accountCap.calls && own.withinMs >= accountCap.withinMs;
}
