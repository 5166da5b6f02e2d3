import { Option, type Command } from 'commander';
import type { ConvaiClient, ListOptions } from './operation.ts';
import { plural } from '../../../shared/input/figures.ts';
import { readPositive } from '../terminal/flag-values.ts';
import type { Io } from '../terminal/io.ts';
import { writeJson } from '../terminal/json-output.ts';
import { renderTable, terminalWidth, type Column } from '../terminal/table.ts';
import { askService, type Operation } from './operation.ts';

const usualLimit = 50;
const readLimit = readPositive('Write a whole number of at least 1.');

export interface ListFlags {
  limit?: number;
  all?: boolean;
  json: boolean;
}

/** `--limit` and `--all`, as every long list has them. */
export function addLimitFlags(command: Command): Command {
  return command
    .addOption(new Option('--limit <number>', `show at most this many (default: ${usualLimit})`).argParser(readLimit))
    .addOption(new Option('--all', 'show all of them').conflicts('limit'));
}

interface PrintedList<Item> extends Operation {
  list: (client: ConvaiClient, options: ListOptions) => AsyncIterable<Item>;
  columns: readonly Column<Item>[];
  /** Field of the items in what programs get. */
  field: string;
}

/** Prints the first items of a list, read no further than it takes to know whether there are more. */
export async function printList<Item>(
  io: Io,
  { limit = usualLimit, all = false, json }: ListFlags,
  { list, columns, field, ...operation }: PrintedList<Item>,
): Promise<void> {
  const items: Item[] = [];
  let hasMore = false;
  await askUsable(io, operation, async (client, options) => {
    for await (const item of list(client, options)) {
      hasMore = !all && items.length === limit;
      if (hasMore) return;
      items.push(item);
    }
  });
  if (json) return writeJson(io, { [field]: items, has_more: hasMore });
  io.stdout.write(renderTable(columns, items, terminalWidth(io)));
  if (hasMore) io.stderr.write(`These are the first ${items.length}; there are more: --limit <number>, or --all.\n`);
}

/** Asks for a list of the service, and tells on standard error what of it cannot be used. */
export async function askUsable<Result>(
  io: Io,
  operation: Operation,
  ask: (client: ConvaiClient, options: ListOptions) => Promise<Result>,
): Promise<Result> {
  let unusable = 0;
  const onUnusable = (entries: number): void => void (unusable += entries);
  const result = await askService(io, operation, (client) => ask(client, { onUnusable }));
  if (unusable > 0) {
    const counted = plural(unusable, 'entry', 'entries');
    io.stderr.write(`${counted} of the list cannot be used (no id, say) and ${unusable === 1 ? 'was' : 'were'} left out.\n`);
  }
  return result;
}
