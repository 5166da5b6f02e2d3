import { theColumn } from '../../../rules/columns.ts';
import { readPhoneNumber } from '../../../rules/phone-number.ts';
import { knowsHolidays } from '../../../campaign/file/holidays.ts';
import { rowFieldList } from '../../../campaign/file/row-fields.ts';
import { createDraft, keepDraftList, type Draft } from '../../../ledger/console/drafts.ts';
import { guessColumns, type ListSample } from '../../../list/sample.ts';
import type { ViewRequest } from '../core/view.ts';
import type { ReceivedList } from './receive-list.ts';
import { keepDraft, type DraftFields, type DraftSettings, type OpenDraft, freeId } from './settings.ts';
import { usualFields } from './steps.ts';

/** Begins a draft over a list: columns are guessed, and what is usual is written down, for a person to look at. */
export async function beginDraft({ context, holder }: ViewRequest, received: ReceivedList): Promise<Draft> {
  const { store } = context;
  const { name, sample, content } = received;
  const fields: DraftFields = {
    ...usualFields,
    ...holidaysOf(sample),
    ...columnsOf(sample, {}),
    ...received.fields,
    id: await freeId(store, name),
  };
  const nowReal = context.now();
  const list = await keepDraftList(store, { name, content, nowReal });
  const settings = JSON.stringify({ fields, done: [], sample } satisfies DraftSettings);
  return createDraft(store, { tokenId: holder.tokenId, list, settings, nowReal });
}

/** Puts another list in place of that of a draft. Columns that it lacks are guessed anew, and have to be looked at. */
export async function replaceList(request: ViewRequest, open: OpenDraft, received: ReceivedList): Promise<void> {
  const { context } = request;
  const { name, sample, content } = received;
  const list = await keepDraftList(context.store, { name, content, nowReal: context.now() });
  const fields = {
    ...open.fields,
    ...columnsOf(sample, open.fields),
    'list.delimiter': '',
    'list.sheet': '',
    ...received.fields,
  };
  await keepDraft(request, { ...open, fields, sample, done: open.done.filter((step) => step !== 'columns') }, list);
}

function columnsOf({ columns, rows }: ListSample, before: DraftFields): DraftFields {
  const guess: Record<string, string> = {};
  for (const [use, column] of Object.entries(guessColumns(columns, rows))) guess[`list.${use}`] = column;
  const fields = rowFieldList.map(({ key }) => `list.${key}`);
  const kept = fields.flatMap((field): [string, string][] => {
    const column = theColumn(before[field] ?? '', columns);
    return column === null ? [] : [[field, column]];
  });
  return { ...Object.fromEntries(fields.map((field) => [field, ''])), ...guess, ...Object.fromEntries(kept) };
}

/** The holidays of the country that all numbers with a country belong to. */
function holidaysOf({ columns, rows }: ListSample): DraftFields {
  const { phone } = guessColumns(columns, rows);
  const at = phone === undefined ? -1 : columns.indexOf(phone);
  const countries = new Set(
    rows.flatMap((row) => {
      const number = readPhoneNumber(row[at] ?? '', null);
      return number.ok && number.country !== null ? [number.country] : [];
    }),
  );
  const [country] = countries;
  const isKnown = countries.size === 1 && country !== undefined && knowsHolidays({ country, region: null });
  return isKnown ? { holidays: country } : {};
}
