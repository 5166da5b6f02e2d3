import { Option, type Command, InvalidArgumentError } from 'commander';
import type { Io } from './io.ts';
import { plural } from '../../input/figures.ts';

const usualLimit = 50;

export interface LimitFlags {
  limit?: number;
  all?: boolean;
}

/** `--limit` and `--all`, as every long list has them. */
export function addLimitFlags(command: Command): Command {
  return command
    .addOption(new Option('--limit <number>', `show at most this many (default: ${usualLimit})`).argParser(readLimit))
    .addOption(new Option('--all', 'show all of them').conflicts('limit'));
}

export interface LimitedList<Item> {
  items: Item[];
  hasMore: boolean;
}

/** The first items of a list, read no further than it takes to know whether there are more. */
export async function takeItems<Item>(
  list: AsyncIterable<Item>,
  { limit = usualLimit, all = false }: LimitFlags,
): Promise<LimitedList<Item>> {
  const items: Item[] = [];
  for await (const item of list) {
    if (!all && items.length === limit) return { items, hasMore: true };
    items.push(item);
  }
  return { items, hasMore: false };
}

/** What a list of the service could not be read of, counted by `onUnusable` and told on standard error. */
export function countUnusable(): { onUnusable: (entries: number) => void; tell(io: Pick<Io, 'stderr'>): void } {
  let unusable = 0;
  return {
    onUnusable: (entries) => void (unusable += entries),
    tell: (io) => {
      if (unusable === 0) return;
      const counted = plural(unusable, 'entry', 'entries');
      io.stderr.write(
        `${counted} of the list cannot be used (no id, say) and ${unusable === 1 ? 'was' : 'were'} left out.\n`,
      );
    },
  };
}

/** Says on standard error that a table does not show all there is. */
export function tellMore(io: Pick<Io, 'stderr'>, { items, hasMore }: LimitedList<unknown>): void {
  if (hasMore) io.stderr.write(`These are the first ${items.length}; there are more: --limit <number>, or --all.\n`);
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (/^\d{1,9}$/.test(text) && limit > 0) return limit;
  throw new InvalidArgumentError('Write a whole number of at least 1.');
}
