import type { CampaignRules } from '../domain/campaign-rules.ts';
import { ringMs, type ForecastAssumptions } from './campaign-forecast.ts';
import type { OpeningLines } from './opening-lines.ts';

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
