import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { ringMs, type ForecastAssumptions } from './campaign-forecast.ts';
import type { WordsForecast } from '../../rules/forecast/words-forecast.ts';

/** What the agent's newest records show; null: nobody asked, or there are none. */
export interface RecordsShown {
  read: number;
  naming: number;
  silent: number;
}

/** What it costs that some calls cannot be told apart. */
export interface WordsOutlook {
  /** Calls that can be open at once as far as words go; null: any number. */
  openAtOnce: number | null;
  /** How long the calls of the largest set of the same words take, one after the other. */
  longestMs: number;
  /** Rows whose turn would not come before the end, at least. */
  late: number;
  /** Rows that may end in doubt, by words or by what records show; null: that cannot be foretold. */
  doubtful: number | null;
}

/** So many finished records in a row that name the call make words needless. */
const tellingRun = 20;

export function lookAhead(
  rules: Pick<CampaignRules, 'sharedWords' | 'endsAt'>,
  lines: OpeningLines,
  { dialable, startsAt }: { dialable: number; startsAt: number },
  { callMs, answerRate }: ForecastAssumptions,
  records: RecordsShown | null,
): WordsOutlook {
  const read = records?.read ?? 0;
  const isTold = records !== null && read >= tellingRun && records.naming === read;
  if (isTold) return { openAtOnce: null, longestMs: 0, late: 0, doubtful: 0 };
  const bySilence = records === null || read === 0 ? null : Math.ceil((dialable * records.silent) / read);
  if (rules.sharedWords === 'unresolved')
    return {
      openAtOnce: null,
      longestMs: 0,
      late: 0,
      doubtful: Math.min(dialable, Math.max(lines.shared, bySilence ?? 0)),
    };
  const eachMs = answerRate * callMs + (1 - answerRate) * ringMs;
  const fit = rules.endsAt === null ? Infinity : Math.max(0, Math.floor((rules.endsAt - startsAt) / eachMs));
  return {
    openAtOnce: lines.shared === 0 ? null : lines.groups,
    longestMs: lines.largest * eachMs,
    late: lines.sizes.reduce((sum, { rows, groups }) => sum + Math.max(0, rows - fit) * groups, 0),
    doubtful: bySilence,
  };
}

export interface OpeningLines extends WordsForecast {
  /** `shared` as a part of the accepted rows, 0 to 1. */
  share: number;
  /** What to change in the campaign file; null when the lines tell all recipients apart. */
  advice: string | null;
}

/** The columns that could be spoken: not those that have a part of their own in the list. */
export function speakableColumns(list: CampaignRules['list']): { name: string; index: number }[] {
  const taken: unknown[] = Object.entries(list).flatMap(([key, value]) => (key.endsWith('Column') ? [value] : []));
  return list.columns.flatMap((name, index) => (taken.includes(name) ? [] : [{ name, index }]));
}

/** What the lines of the accepted rows come to, and what mends it. */
export function describeOpeningLines(
  { firstMessage }: Pick<CampaignRules, 'firstMessage'>,
  accepted: number,
  words: WordsForecast,
): OpeningLines {
  if (accepted > 1 && firstMessage === null) {
    const advice = 'Add a first_message with columns that differ from row to row, such as a name with a date or time.';
    const sizes = [{ rows: accepted, groups: 1 }];
    return { ...words, rows: accepted, shared: accepted, groups: 1, largest: accepted, sizes, share: 1, advice };
  }
  if (words.shared === 0) return { ...words, share: 0, advice: null };
  return { ...words, share: words.shared / accepted, advice: adviseColumn(words) };
}

function adviseColumn({ column }: Pick<WordsForecast, 'column'>): string {
  if (column === null)
    return 'No column of the list tells them apart: add one that differs, such as a last name or the time of an appointment, and put it into first_message.';
  const add = `Add a column that differs, such as ${column.name}, to first_message`;
  return column.left === 0 ? `${add}.` : `${add}: ${column.left} of ${column.looked} rows would still share theirs.`;
}
