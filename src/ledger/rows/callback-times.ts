import { earliest, type CampaignRules } from '../../rules/campaign-rules.ts';
import { usualCallback } from '../../rules/callback-rules.ts';
import { atLocal, faultOf, type CallbackQuestion } from '../../rules/callbacks/callback-time.ts';
import { wallText, wallTime } from '../../rules/hours/local-time.ts';
import { windowAt } from '../../rules/hours/calling-window.ts';
import { calendarsFor } from '../../rules/hours/legal-hours.ts';
import type { CallbackRow, RecipientRow } from '../schema.ts';
import type { Campaign } from './campaigns.ts';
import { laterTermsOf, placeOf } from './row-terms.ts';

const dayMs = 24 * 3_600_000;

/** Defaults apply if the campaign file has none. */
export function callbackRulesOf({ callback }: Pick<CampaignRules, 'callback'>) {
  return callback ?? usualCallback;
}

export function questionOf(campaign: Campaign, row: RecipientRow, { toldAt, now }: { toldAt: number; now: number }): CallbackQuestion {
  const { rules } = campaign;
  const zones = JSON.parse(row.zones) as string[];
  const windowInput = {
    calendars: calendarsFor(rules, { ...placeOf(row), hours: laterTermsOf(row).hours }),
    zones,
    marginMs: rules.timing.dispatchMarginMs,
    endsAt: earliest(rules.endsAt, row.expires_at),
  };
  return { toldAt, zones, now, isOpen: (at) => windowAt({ ...windowInput, at }).open };
}

/** The same local time on the next allowed day; null: none before the callback is too old. */
export function nextDayOf(campaign: Campaign, { promise: callback, row, now }: { promise: CallbackRow; row: RecipientRow; now: number }) {
  const rules = callbackRulesOf(campaign.rules);
  const question = questionOf(campaign, row, { toldAt: now, now });
  const [zone] = question.zones;
  if (zone === undefined || callback.due_at === null) return null;
  for (let wall = wallTime(callback.due_at, zone) + dayMs; ; wall += dayMs) {
    const read = atLocal(wallText(wall), question, rules.lateMs);
    if (typeof read === 'string' && read !== 'past') return null;
    if (wall > wallTime(callback.made_at + rules.horizonMs, zone)) return null;
    if (typeof read !== 'string' && faultOf(read.at, rules, question) === null) return read;
  }
}
