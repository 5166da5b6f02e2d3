import { extname } from 'node:path';
import { parseDuration, parseInstant } from '../../../shared/input/times.ts';
import { didYouMean } from '../../../rules/nearest-name.ts';
import { resultsFormats, type ResultsFormat } from '../../../presentation/results/file.ts';
import { dispositions } from '../../../rules/disposition.ts';
import { outcomes } from '../../../rules/outcome.ts';
import { UsageError } from '../../../shared/input/errors.ts';

export interface ResultsFlags {
  output?: string;
  format?: string;
  safeCells: boolean;
  bom: boolean;
  outcome?: string;
  disposition?: string;
  reason?: string;
  result?: string;
  since?: string;
  wait: boolean;
  transcripts?: string;
  json: boolean;
}

/** Changed since an instant (service time), or within a duration. */
type Since = { at: number } | { agoMs: number };

export type ResultsOptions = ReturnType<typeof readResultsFlags>;

const rowOutcomes = [...outcomes, 'in_progress'] as const;

/** Throws UsageError. */
export function readResultsFlags(flags: ResultsFlags) {
  const { output = null, transcripts = null, wait, json, safeCells, bom } = flags;
  const format = readFormat(flags);
  if (format !== 'csv' && (safeCells || bom)) {
    const why = format === 'xlsx' ? 'a workbook needs neither' : 'JSON Lines are no spreadsheet';
    throw new UsageError(`--safe-cells and --bom are for CSV; ${why}.`);
  }
  return {
    /** `-`: standard output; null: named after the campaign, in the current folder. */
    output,
    format,
    csv: { safeCells, bom },
    filter: {
      outcomes: readNames('--outcome', flags.outcome, rowOutcomes) ?? undefined,
      dispositions: readNames('--disposition', flags.disposition, dispositions) ?? undefined,
      // Campaigns may use any word as a reason.
      reasons: readNames('--reason', flags.reason, null) ?? undefined,
      results: readNames('--result', flags.result, null) ?? undefined,
    },
    since: readSince(flags.since),
    wait,
    transcripts,
    json,
  };
}

function readFormat({ format, output, json }: ResultsFlags): ResultsFormat {
  if (format !== undefined) {
    const known = resultsFormats.find((name) => name === format.toLowerCase());
    if (known !== undefined) return known;
    throw new UsageError(`--format is ${JSON.stringify(format)}; write csv, jsonl or xlsx.`);
  }
  const ending = extname(output ?? '').toLowerCase();
  if (ending === '.xls' || ending === '.ods') {
    throw new UsageError(`${String(output)}: Carillon writes .xlsx, not ${ending}. Name the file so.`);
  }
  if (ending === '.ndjson') return 'jsonl';
  return resultsFormats.find((name) => `.${name}` === ending) ?? (json ? 'jsonl' : 'csv');
}

/** Comma-separated names; null without the flag. Throws UsageError that lists the valid ones. */
export function readNames<Name extends string>(flag: string, text: string | undefined, known: readonly Name[] | null): Name[] | null {
  if (text === undefined) return null;
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) throw new UsageError(`${flag} names nothing.${known === null ? '' : ` ${possible(known)}`}`);
  for (const name of names) {
    if (known === null || (known as readonly string[]).includes(name)) continue;
    const guess = didYouMean(name, known, String);
    throw new UsageError(`${flag}: there is no ${JSON.stringify(name)}.${guess} ${possible(known)}`);
  }
  return [...new Set(names)] as Name[];
}

function possible(known: readonly string[]): string {
  return `Possible are ${known.join(', ')}.`;
}

function readSince(text: string | undefined): Since | null {
  if (text === undefined) return null;
  const agoMs = parseDuration(text);
  if (agoMs !== null) return { agoMs };
  const at = parseInstant(text.trim());
  if (at !== null) return { at };
  throw new UsageError(
    `--since is ${JSON.stringify(text)}; write a time with its offset from UTC, such as 2030-11-30T17:00:00-05:00 or 2030-11-30T22:00:00Z, or how long ago: 2h.`,
  );
}
