import { isTheirs } from '../core/drafts.ts';
import type { ViewRequest } from '../core/view.ts';
import { ProblemError } from '../../../operations/runs/problem.ts';
import { findDraft, saveDraft, type Draft, type DraftList, createDraft, keepDraftList } from '../../../ledger/console/drafts.ts';
import { type ListSample, guessColumns, readListSample } from '../../../list/sample.ts';
import { createHash } from 'node:crypto';
import { columnFields, fieldsOf, usualFields, type FormPart } from './parts.ts';
import { findCampaign, readFileOf } from '../../../ledger/rows/campaigns.ts';
import { campaignIdFrom } from '../../../campaign/file/settings/caller.ts';
import { theColumn } from '../../../rules/columns.ts';
import { readPhoneNumber } from '../../../shared/input/phone-number.ts';
import { knowsHolidays } from '../../../campaign/file/holidays.ts';
import { copyFile, withDraftFiles } from './content.ts';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { writeFixedList } from '../../../list/mend.ts';
import type { ListChoice } from '../../../list/records.ts';
import { sentFixes } from '../core/fixes.ts';
import type { Store } from '../../../ledger/tx.ts';
import type { FieldProblem, ReceivedList, DraftFields, DraftSettings, OpenDraft } from './draft-types.ts';

export const sampleRows = 50;

const gone =
  'This draft is not here: it was started or discarded, or nobody has touched it for seven days. A campaign that was started stands among the campaigns.';

/** An admin may open any draft. Throws ProblemError, the same for a foreign one as for a missing one. */
export async function openDraft({ context, holder, params }: ViewRequest): Promise<OpenDraft> {
  const draft = await findDraft(context.store, params['draft'] ?? '', context.now());
  if (draft === undefined || !isTheirs(draft, holder)) throw new ProblemError(404, 'unknown_draft', gone);
  const { fields, sample, copied } = JSON.parse(draft.settings) as DraftSettings;
  return { draft, fields, sample, copied };
}

/** Throws ProblemError if the draft has gone, or was changed in another window. */
export async function keepDraft({ context }: ViewRequest, { draft, fields, sample, copied }: OpenDraft, list?: DraftList): Promise<void> {
  const settings = JSON.stringify({ fields, sample, copied } satisfies DraftSettings);
  const kept = await saveDraft(context.store, draft, {
    settings,
    nowReal: context.now(),
    ...(list === undefined ? {} : { list }),
  });
  if (kept === 'gone') throw new ProblemError(404, 'unknown_draft', gone);
  if (kept === 'changed')
    throw new ProblemError(409, 'draft_changed', 'The draft was changed in another window just now. Send this again.');
}

/** Version of a part; a form is sent with the one that it shows. */
export function versionOf({ fields }: Pick<OpenDraft, 'fields'>, part: FormPart): string {
  const own = Object.entries(fields).filter(([name]) => fieldsOf[part].some((each) => name === each || name.startsWith(`${each}.`)));
  return createHash('sha256')
    .update(JSON.stringify(own.toSorted(([one], [other]) => (one < other ? -1 : 1))))
    .digest('hex')
    .slice(0, 16);
}

export async function findTakenId(store: Store, fields: DraftFields): Promise<FieldProblem[]> {
  const id = fields['id']?.trim() ?? '';
  if (id === '' || (await findCampaign(store.db, id)) === undefined) return [];
  return [{ field: 'id', message: `There is a campaign ${id} already; write another id.` }];
}

/** An unused campaign id, after the list's name. */
export async function freeId(store: Store, listName: string): Promise<string> {
  const id = campaignIdFrom(listName.replace(/\.\w{1,5}$/, '')).slice(0, 60);
  for (let at = 1, free = id; ; at += 1, free = `${id}-${at}`) if ((await findCampaign(store.db, free)) === undefined) return free;
}

/** Guesses columns and fills in usual values. `copyOf`: a campaign whose file provides the values instead, without start and end. */
export async function beginDraft({ context, holder }: ViewRequest, received: ReceivedList, copyOf?: string): Promise<Draft> {
  const { store } = context;
  const { name, sample, content } = received;
  const copied = copyOf === undefined ? undefined : copyFile((await readFileOf(store.db, copyOf)) ?? {});
  const before = copied?.fields ?? { ...usualFields, ...holidaysOf(sample) };
  const fields: DraftFields = {
    ...before,
    ...columnsOf(sample, before),
    ...received.fields,
    id: await freeId(store, copyOf ?? name),
  };
  const nowReal = context.now();
  const list = await keepDraftList(store, { name, content, nowReal });
  const more = copyOf === undefined || copied === undefined ? undefined : { campaignId: copyOf, more: copied.more };
  const settings = JSON.stringify({ fields, sample, copied: more } satisfies DraftSettings);
  return createDraft(store, { tokenId: holder.tokenId, list, settings, nowReal });
}

/** Guesses columns that the new list lacks. */
export async function replaceList(request: ViewRequest, open: OpenDraft, received: ReceivedList): Promise<void> {
  const { context } = request;
  const { name, sample, content } = received;
  const list = await keepDraftList(context.store, { name, content, nowReal: context.now() });
  const fields = {
    ...open.fields,
    ...columnsOf(sample, open.fields),
    'list.delimiter': '',
    'list.sheet': '',
    'list.encoding': '',
    ...received.fields,
  };
  await keepDraft(request, { ...open, fields, sample }, list);
}

function columnsOf({ columns, rows }: ListSample, before: DraftFields): DraftFields {
  const guess: Record<string, string> = {};
  for (const [use, column] of Object.entries(guessColumns(columns, rows))) guess[`list.${use}`] = column;
  const kept = columnFields.flatMap((field): [string, string][] => {
    const column = theColumn(before[field] ?? '', columns);
    return column === null ? [] : [[field, column]];
  });
  return { ...Object.fromEntries(columnFields.map((field) => [field, ''])), ...guess, ...Object.fromEntries(kept) };
}

/** Holidays of the country of all numbers, if it is only one. */
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

export function readingOf(fields: DraftFields): Pick<ListChoice, 'delimiter' | 'sheet' | 'encoding'> {
  const [delimiter, sheet, encoding] = ['list.delimiter', 'list.sheet', 'list.encoding'].map((name) => fields[name] || undefined);
  return { delimiter, sheet, encoding };
}

/** Only for a likely encoding of the list; ignores any other. */
export async function chooseEncoding(viewed: ViewRequest, open: OpenDraft, chosen: string): Promise<void> {
  const { sample, fields, copied } = open;
  const { readings } = sample;
  if (readings?.some(({ encoding }) => encoding === chosen) !== true) return;
  const written = { ...fields, 'list.encoding': chosen };
  await withDraftFiles(viewed.context.store, open, async ({ listPath: path }) => {
    const mayBeEmpty = 'stays_open' in (copied?.more ?? {});
    const read = await readListSample({ path, ...readingOf(written), rows: sampleRows, mayBeEmpty });
    await keepDraft(viewed, { ...open, fields: { ...written, ...columnsOf(read, fields) }, sample: { ...read, readings } });
  });
}

/** In the draft's copy of the list; ignores fixes for another list. */
export async function fixRows(viewed: ViewRequest, open: OpenDraft, sent: URLSearchParams): Promise<void> {
  const { draft, sample, fields } = open;
  if (sent.get('list') !== draft.list.listId) return;
  const fixes = sentFixes(sent);
  await withDraftFiles(viewed.context.store, open, async ({ folder, listPath }) => {
    const target = join(folder, 'mended.csv');
    if ((await writeFixedList({ path: listPath, columns: sample.columns, ...readingOf(fields) }, fixes, target)) === 0) return;
    const name = draft.list.name.replace(/\.xlsx$/i, '.csv');
    const list = await keepDraftList(viewed.context.store, { name, content: createReadStream(target), nowReal: viewed.context.now() });
    const fixedSample = await readListSample({ path: target, delimiter: ',', rows: sampleRows });
    const written = { ...fields, 'list.delimiter': ',', 'list.sheet': '', 'list.encoding': '' };
    await keepDraft(viewed, { ...open, fields: written, sample: { ...fixedSample, columns: sample.columns } }, list);
  });
}
