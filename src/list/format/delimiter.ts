import { parse } from 'csv-parse/sync';
import { ListFileError } from '../../shared/input/errors.ts';

const candidates = [',', ';', '\t', '|'] as const;
/** Lines that are looked at; a header stands further up. */
export const linesAboveRows = 50;

/** How the first lines look when one character separates their cells. */
interface Trial {
  delimiter: string;
  /** Cells of the line that looks like a header, or else of the longest one. */
  width: number;
  fits: boolean;
  /** Whether that line has company: further lines with as many cells. */
  steady: boolean;
}

/** The delimiter that the first line notes for spreadsheets, as `sep=;`; an empty one says nothing. */
export function readNote(text: string): { delimiter: string | null } | null {
  const note = /^"?sep=([^"\r\n]?)[^\r\n]*(?:[\r\n]|$)/i.exec(text);
  return note === null ? null : { delimiter: note[1] || null };
}

/**
 * Finds what separates the columns, in the first lines of a list: under it, one of them has all cells that `isWanted` asks for. If that
 * holds for none of the characters, or for several, the one under which lines have equally many cells is taken.
 * @throws ListFileError when several characters may be it.
 */
export function findDelimiter(path: string, text: string, isWanted: (cells: string[]) => boolean): string {
  const trials = candidates.map((delimiter) => tryDelimiter(text, delimiter, isWanted));
  const wide = trials.filter(({ width }) => width > 1);
  const fitting = wide.filter(({ fits }) => fits);
  const steady = (fitting.length > 0 ? fitting : wide).filter((trial) => trial.steady);
  const choices = fitting.length === 1 ? fitting : steady.length > 0 ? steady : fitting.length > 0 ? fitting : wide;
  // A list of one column is the same under each of them.
  const [only] = trials.some(({ fits }) => fits) && fitting.length === 0 ? [] : choices;
  if (only === undefined) return ',';
  if (choices.length === 1) return only.delimiter;
  const seen = choices.map(({ delimiter, width }) => `${String(width)} cells with ${JSON.stringify(delimiter)}`);
  throw new ListFileError(
    path,
    `what separates the columns is not certain: its first lines have ${seen.join(', ')}; name it with list.delimiter in the campaign file`,
  );
}

function tryDelimiter(text: string, delimiter: string, isWanted: (cells: string[]) => boolean): Trial {
  const lines = splitFirstLines(text, delimiter);
  const header = lines.find(isWanted);
  const width = header?.length ?? Math.max(0, ...lines.map((cells) => cells.length));
  const equal = lines.filter((cells) => cells.length === width).length;
  return { delimiter, width, fits: header !== undefined, steady: equal > 1 && equal * 2 > lines.length };
}

function splitFirstLines(text: string, delimiter: string): string[][] {
  const lines: string[][] = [];
  try {
    parse(text, {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      to: linesAboveRows,
      on_record: (cells: string[]) => {
        lines.push(cells);
        return null;
      },
    });
  } catch {
    // The text ends somewhere in the list, maybe inside of quotes; the lines before that are enough.
  }
  return lines;
}
