import { windowAt } from '../domain/calling-window.ts';
import type { CampaignRules } from '../domain/campaign-rules.ts';
import { earliest } from '../domain/eligibility.ts';
import { callsAllowedAt } from '../domain/legal-caps.ts';
import { calendarsFor, type RecipientPlace } from '../domain/legal-hours.ts';
import type { CampaignEvent } from '../store/events.ts';
import type { LogRule } from './log-rules.ts';
import type { Callee, NumberBook } from './number-book.ts';

/** Whom the log says that a call went to. */
export function calleeOf(event: CampaignEvent): Callee {
  const { e164, person } = event.data ?? {};
  return { number: String(e164), person: typeof person === 'string' ? person : null };
}

/** What is wrong with placing this call, apart from what its own campaign had done before. */
export function judgeCall(rules: CampaignRules, numbers: NumberBook, event: CampaignEvent): [LogRule, string][] {
  const { number, person } = calleeOf(event);
  const found: [LogRule, string][] = [];
  const late = judgeHours(rules, event);
  if (late !== null) found.push(late);
  if (numbers.isSuppressed(number, event.campaignId, event.at))
    found.push(['suppressed_dialled', `call ${event.attemptId} went to a number on the do-not-call list`]);
  const other = numbers.openCall(number);
  if (other !== undefined && other !== event.attemptId)
    found.push(['calls_overlap', `call ${event.attemptId} began while ${other} to the same number was open`]);
  const calls = { number: numbers.placedTo('number', number), person: numbers.placedTo('person', person) };
  const allowedAt = callsAllowedAt(rules, placeOf(event), calls, event.at);
  if (allowedAt > event.at)
    found.push([
      'cap_exceeded',
      `call ${event.attemptId} was placed ${allowedAt - event.at} ms before the caps allowed it`,
    ]);
  return found;
}

/** Where the log says that a call went. What it does not tell is not known, and then every law of the country holds. */
function placeOf({ data = {} }: CampaignEvent): RecipientPlace {
  const { country = null, regions = null } = data as Partial<RecipientPlace>;
  return { country, regions };
}

function judgeHours(rules: CampaignRules, event: CampaignEvent): [LogRule, string] | null {
  const { attemptId, at, data = {} } = event;
  const zones = data['zones'] as string[] | undefined;
  if (zones === undefined) return ['log_incomplete', `the log does not tell where call ${attemptId} went`];
  if (rules.startsAt !== null && at < rules.startsAt)
    return ['outside_hours', `call ${attemptId} was placed before the campaign was to begin`];
  if (typeof data['notBefore'] === 'number' && at < data['notBefore'])
    return ['outside_hours', `call ${attemptId} was placed before its row allowed it`];
  const marginMs = rules.timing.dispatchMarginMs;
  const endsAt = earliest(rules.endsAt, typeof data['expiresAt'] === 'number' ? data['expiresAt'] : null);
  const window = windowAt({ calendars: calendarsFor(rules, placeOf(event)), zones, at, marginMs, endsAt });
  return window.open ? null : ['outside_hours', `call ${attemptId} was placed when it must not be (${window.reason})`];
}
