import { forecastCampaign, forecastQuickly, type CampaignForecast, type WindowNeeds } from './campaign-forecast.ts';
import { refusalOf, refusalOfRows } from '../file/file.ts';
import type { CampaignFileError } from '../../shared/input/errors.ts';
import { CallableRows, isForWantOfTime, type CallableCounts } from './callable-rows.ts';
import type { ListRow } from '../../list/recipients.ts';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { dialsFrom } from '../../rules/lifecycle.ts';
import type { Forecast } from '../../rules/forecast/forecast.ts';
import { plural, count } from '../../shared/input/figures.ts';
import { instantText } from '../../shared/input/times.ts';
import type { CampaignFile } from '../file/campaign-file.ts';

export interface StartTimeInput {
  file: CampaignFile;
  rules: CampaignRules;
  accountLines: number | null;
  allowPartial: boolean;
  impossibleRows: number;
}

/** Checks during an import whether time suffices: like `check`, without do-not-call list and earlier calls. */
export class StartTime {
  readonly #callable: CallableRows | null;
  readonly #startsAt: number;

  constructor(rules: CampaignRules, now: number) {
    this.#startsAt = dialsFrom(rules, now);
    this.#callable = hasAnEnd(rules) ? new CallableRows(rules, this.#startsAt) : null;
  }

  add(rows: readonly ListRow[]): void {
    if (this.#callable !== null) for (const row of rows) this.#callable.add(row, null);
  }

  /**
   * Returns warnings without a full stop. Throws CampaignFileError when no recipient, or even at best not every one, can be called in time.
   */
  judge({ file, rules, accountLines, allowPartial, impossibleRows }: StartTimeInput): string[] {
    if (this.#callable === null) return [];
    const counts = this.#callable.counts();
    refuseTooEarlyEnd(file, rules, counts);
    if (counts.dialable === 0) throw noCallableRows(file, counts);
    const request = { rules, groups: this.#callable.groups(), startsAt: this.#startsAt, accountLines };
    const { earliest, likely } = forecastQuickly(request);
    // A campaign that stops at its goal need not reach every recipient.
    if (earliest.neverCalled > 0 && !allowPartial && rules.stopAt === undefined) throw tooShort(file, rules, forecastCampaign(request));
    return [...lateRows(counts, impossibleRows), ...(earliest.neverCalled > 0 ? [neverCalledText(earliest)] : likelyShortfall(likely))];
  }
}

function likelyShortfall({ neverCalled, cutShort }: Forecast): string[] {
  if (neverCalled + cutShort === 0) return [];
  const whom =
    neverCalled > 0
      ? `${plural(neverCalled, 'recipient')} would likely never be called`
      : `${plural(cutShort, 'recipient')} would likely not get all attempts`;
  return [`the window is short: ${whom} before the end; a check of the file says what it needs`];
}

function noCallableRows(file: CampaignFile, { exclusions }: CallableCounts): CampaignFileError {
  const why = exclusions.map(({ reason, count }) => `${reason} ${String(count)}`).join(', ');
  return refusalOfRows(file, `none of the rows of ${file.settings.list.file} would be called (${why})`);
}

function tooShort(file: CampaignFile, rules: CampaignRules, forecast: CampaignForecast): CampaignFileError {
  const shortfall = shortfallText(rules, forecast);
  const needs = shortfall === null ? '' : ` ${shortfall}`;
  const fix = 'Write what it needs, or call as many as there is time for with --allow-partial';
  // The setting at fault: the campaign's end if a later end would help, else the rows' own.
  const { endsAt, list } = rules;
  const byRows = list.expiresAtColumn != null && (endsAt === null || forecast.needs?.moreMs === null);
  const value = byRows ? JSON.stringify(list.expiresAtColumn) : isoText(endsAt ?? 0);
  const message = `${value} leaves too little time: ${neverCalledText(forecast.earliest)}.${needs} ${fix}`;
  return refusalOf(file, byRows ? ['list', 'expires_at'] : ['ends_at'], message);
}

function lateRows({ exclusions }: CallableCounts, impossibleRows: number): string[] {
  const late = exclusions.reduce((sum, { reason, count }) => sum + (isForWantOfTime(reason) ? count : 0), 0);
  const rows = late - impossibleRows;
  if (rows <= 0) return [];
  return [`${plural(rows, 'row')} cannot be called before the end of the campaign or of the row: a check of the file says why`];
}

export function hasAnEnd({ endsAt, list }: CampaignRules): boolean {
  return endsAt !== null || list.expiresAtColumn != null;
}

/** First opening if the campaign ended later; null: its end is not the only reason. */
export function opensTooLate({ endsAt }: CampaignRules, counts: CallableCounts): number | null {
  const { dialable, exclusions, opensAfterEnd } = counts;
  if (endsAt === null || dialable > 0 || !exclusions.every(({ reason }) => isForWantOfTime(reason))) return null;
  return opensAfterEnd;
}

export function refuseTooEarlyEnd(file: CampaignFile, rules: CampaignRules, counts: CallableCounts): void {
  const opensAt = opensTooLate(rules, counts);
  if (opensAt === null) return;
  const margin = `${String(rules.timing.dispatchMarginMs / 60_000)}m`;
  const message =
    `${isoText(rules.endsAt ?? 0)} is too early: no recipient in the list can be called before it. The first hours open ${isoText(opensAt)}, ` +
    `and a call must begin longer than advanced.dispatch_margin (${margin}) before the end; write a later time`;
  throw refusalOf(file, ['ends_at'], message);
}

function isoText(at: number): string {
  return new Date(at).toISOString();
}

const minuteMs = 60_000;

export function neverCalledText({ neverCalled }: Forecast): string {
  return `even at best ${plural(neverCalled, 'recipient')} would never be called`;
}

/** Sentences on the likely shortfall and the time or concurrent calls that would suffice; null: none. */
export function shortfallText({ endsAt }: CampaignRules, { needs, lines: linesNow }: CampaignForecast): string | null {
  if (needs === null) return null;
  const whom =
    needs.missing === 'first_attempts'
      ? `${plural(needs.recipients, 'recipient')} would likely never be called`
      : `${plural(needs.recipients, 'recipient')} would likely not get all attempts`;
  const until = endsAt === null ? '' : ` before ${instantText(endsAt)}`;
  const time = needs.moreMs === null ? null : `${atLeast(needs.moreMs)} more`;
  const calls = needs.concurrentCalls === null ? null : `${count(needs.concurrentCalls)} concurrent calls (now ${count(linesNow)})`;
  const lines = [
    `The window is too short: ${whom}${until}.`,
    time === null && calls === null
      ? 'No later end and no number of concurrent calls is enough.'
      : `It needs ${[time, calls].filter((part) => part !== null).join(' or ')}.`,
    ...(calls === null ? [limitText(needs)] : []),
  ];
  return lines.join(' ');
}

function limitText({ limitedBy, moreMs }: WindowNeeds): string {
  const begin = moreMs === null ? 'The reason:' : 'No number of concurrent calls is enough, because';
  switch (limitedBy) {
    case 'shared_words':
      return `${begin} too many opening lines are the same (see below).`;
    case 'account_limit':
      return `${begin} the account allows no more.`;
    case 'starts_per_minute':
      return `${begin} pacing.starts_per_minute lets too few calls begin.`;
    case 'caller_limits':
      return `${begin} caller_limits let too few calls begin: name more numbers.`;
    case 'warm_up':
      return `${begin} pacing.warm_up keeps lines unused for too long.`;
    case 'delays':
      return `${begin} the delays between attempts last too long.`;
    case 'windows':
    case null:
      return `${begin} the windows of those rows do not last long enough.`;
  }
}

/** A duration, rounded up: `40 min`, `3 h 20 min`, `2 d 5 h`. */
function atLeast(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / minuteMs));
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const hours = Math.ceil(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
