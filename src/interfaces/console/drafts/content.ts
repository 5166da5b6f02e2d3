import { DateTime } from 'luxon';
import { rowFieldList } from '../../../list/row-fields.ts';
import { campaignSettings } from '../../../campaign/file/schema.ts';
import { withoutUndefined } from '../../../rules/collections.ts';
import { pageFields, otherField, timesZone, usualFields } from './parts.ts';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { campaignFileText } from '../../../shared/input/yaml-text.ts';
import { readCampaignFile } from '../../../campaign/file/file.ts';
import { readDraftList } from '../../../ledger/console/drafts.ts';
import type { Store } from '../../../ledger/tx.ts';
import type { SentFiles } from '../../../operations/list.ts';
import type { CampaignFile } from '../../../campaign/file/campaign-file.ts';
import type { DraftFields, OpenDraft } from './draft-types.ts';

export const mostVariables = 20;

const officeHours: DraftFields = Object.fromEntries(Object.entries(usualFields).filter(([name]) => name.startsWith('hours.')));

/** Empty fields are left out, so that defaults apply; invalid ones stay, so that the file's reader reports them. */
export function campaignYaml({ draft, fields, copied }: Pick<OpenDraft, 'draft' | 'fields' | 'copied'>): string {
  const { name } = draft.list;
  const content = withCopied(campaignContent(fields, name), copied?.more ?? {});
  return `# Put this file beside ${JSON.stringify(name)}, then: carillon check campaign.yaml\n${campaignFileText(content)}`;
}

/** Values of the form, completed by copied ones. */
function withCopied(own: Record<string, unknown>, copied: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const both = Object.entries(copied).map(([key, value]) => {
    const ownValue = own[key];
    return [key, isMapping(ownValue) && isMapping(value) ? withCopied(ownValue, value) : (ownValue ?? value)];
  });
  return { ...own, ...Object.fromEntries(both) };
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Never copied. */
const ownOfEach = ['id', 'starts_at', 'ends_at'];

/** A campaign file as form fields; `more`: settings that these cannot express, unchanged. */
export function copyFile(file: Readonly<Record<string, unknown>>): { fields: DraftFields; more: Record<string, unknown> } {
  const fields = { ...blankFields, ...fieldsSaying(file) };
  const formContent = campaignContent(fields, '');
  const rest = Object.entries({ ...file, list: { ...(file['list'] as object), file: '' } }).filter(
    ([key, value]) => !ownOfEach.includes(key) && !isDeepStrictEqual(value, formContent[key]),
  );
  const more = rest.flatMap(([key, value]): [string, unknown][] => {
    if (!isMapping(value) || !isMapping(formContent[key])) return [[key, value]];
    const own = formContent[key];
    const lacking = Object.entries(value).filter(([below, written]) => !isDeepStrictEqual(written, own[below]));
    return lacking.length === 0 ? [] : [[key, Object.fromEntries(lacking)]];
  });
  return { fields, more: Object.fromEntries(more) };
}

/** Empty: the file's defaults apply. */
const blankFields: DraftFields = Object.fromEntries(Object.keys(usualFields).map((name) => [name, '']));

function fieldsSaying(file: Readonly<Record<string, unknown>>): DraftFields {
  const { hours, variables, caps, law, opt_out: optOut } = file;
  const lone = (value: unknown) => (Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : undefined);
  const unruled = isMapping(law) && Object.values(law).every((word) => word === 'none') ? Object.keys(law) : '';
  const readable = { ...file, hours, caps: lone(caps), law: unruled, opt_out: lone(optOut) };
  const names = [...pageFields.keys(), 'list.delimiter', 'list.sheet', 'list.encoding', ...rowFieldList.map(({ key }) => `list.${key}`)];
  const values = isMapping(variables) && isMapping(variables['values']) ? Object.entries(variables['values']) : [];
  const fields: [string, string][] = names
    .filter((name) => !ownOfEach.includes(name))
    .flatMap((name) => {
      const value = name.split('.').reduce<unknown>((at, key) => (isMapping(at) ? at[key] : undefined), readable);
      const parts = Array.isArray(value) ? value : [value];
      return parts.every((part) => ['string', 'number'].includes(typeof part))
        ? [[name, parts.join(name === otherField ? '\n' : ', ')]]
        : [];
    });
  const lines = values.slice(0, mostVariables).flatMap(([name, template], at): [string, string][] =>
    typeof template === 'string' ? [[`variables.${at}.name`, name], [`variables.${at}.value`, template]] : [],
  ); // prettier-ignore
  const week = isDeepStrictEqual(hours, settingsUnder('hours', officeHours)) ? 'office' : 'week';
  return { ...Object.fromEntries([...fields, ...lines]), hours: hours === 'any' ? 'any' : week };
}

function campaignContent(fields: DraftFields, listName: string): Record<string, unknown> {
  const caps = settingsUnder('caps', fields);
  const optOut = settingsUnder('opt_out', fields);
  const own: Record<string, unknown> = {
    list: {
      file: listName,
      ...(fields['list.delimiter'] ? { delimiter: fields['list.delimiter'] } : {}),
      ...writtenAt(['list.sheet', 'list.encoding', ...rowFieldList.map(({ key }) => `list.${key}`)], fields),
      ...settingsUnder('list', fields),
    },
    first_message: fields['first_message']?.trim() === '' ? undefined : fields['first_message'],
    // Sent without values too: its reference identifies the record of each call.
    variables: { values: Object.fromEntries(variablesOf(fields).map(({ name, template }) => [name, template])) },
    hours:
      fields['hours'] === 'any' ? 'any' : settingsUnder('hours', fields['hours'] === 'office' ? { ...fields, ...officeHours } : fields),
    price: priceIn(fields),
    law: lawIn(fields),
    caps: caps && [caps],
    opt_out: optOut && [{ ...optOut, equals: [true, 'true', 'yes'] }],
  };
  const entries = Object.keys(campaignSettings).map((key) => [
    key,
    key in own ? own[key] : (writtenIn(key, fields) ?? settingsUnder(key, fields)),
  ]);
  return withoutUndefined(Object.fromEntries(entries) as Record<string, unknown>);
}

/** Converts the number; the reader refuses anything else. */
function priceIn(fields: DraftFields): object | undefined {
  const price = settingsUnder('price', fields);
  const number = Number(fields['price.per_minute']?.trim() || Number.NaN);
  return price === undefined || Number.isNaN(number) ? price : { ...price, per_minute: number };
}

/** Countries without rules; undefined: none. The reader refuses unknown ones. */
function lawIn(fields: DraftFields): object | undefined {
  const countries = (fields['law'] ?? '').split(/[\s,;]+/).filter((code) => code !== ''); // prettier-ignore
  return countries.length === 0 ? undefined : Object.fromEntries(countries.map((code) => [code.toUpperCase(), 'none']));
}

/** Values of the settings below a key; undefined: none. */
function settingsUnder(key: string, fields: DraftFields): object | undefined {
  const content = writtenAt([...pageFields.keys()].filter((name) => name.startsWith(`${key}.`)), fields); // prettier-ignore
  return Object.keys(content).length === 0 ? undefined : content;
}

function writtenAt(names: readonly string[], fields: DraftFields): object {
  return withoutUndefined(Object.fromEntries(names.map((name) => [name.slice(name.lastIndexOf('.') + 1), writtenIn(name, fields)])));
}

function writtenIn(name: string, fields: DraftFields): unknown {
  const { type, between, isList = false } = pageFields.get(name) ?? {};
  const text = fields[name]?.trim() ?? '';
  if (text === '') return undefined;
  if (type === 'number') return whole(text);
  if (type === 'datetime-local') return zonedInstant(text, fields[timesZone]?.trim() || undefined);
  if (between === undefined) return text;
  const values = partsBetween(text, between);
  return values.length > 1 || (isList && values.length > 0) ? values : values[0];
}

export function partsBetween(text: string, between: RegExp | string = /$/): string[] {
  return text.split(between).map((part) => part.trim()).filter((part) => part !== ''); // prettier-ignore
}

export function placesOf(fields: DraftFields): { at: number; name: string; template: string }[] {
  return Array.from({ length: mostVariables }, (_, at) => ({
    at,
    name: fields[`variables.${at}.name`]?.trim() ?? '',
    template: fields[`variables.${at}.value`] ?? '',
  }));
}

/** Variables with a text; for others the agent's placeholder applies. */
export function variablesOf(fields: DraftFields): { at: number; name: string; template: string }[] {
  return placesOf(fields).filter(({ template }) => template.trim() !== '');
}

/** `2030-03-01T09:00` in a zone, with its offset; as written if time or zone is invalid. */
function zonedInstant(written: string, zone = 'UTC'): string {
  const at = DateTime.fromISO(written, { zone });
  return at.isValid ? at.toISO({ suppressMilliseconds: true }).replace(/Z$/, '+00:00') : `${written} ${zone}`;
}

function whole(text: string): number | string {
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}

/** A draft as the two files of `carillon start`, in a temporary folder. */
interface DraftFiles {
  folder: string;
  listPath: string;
  /** Throws CampaignFileError. */
  read: () => Promise<CampaignFile>;
  /** Writes the campaign file beside the list; returns its path. */
  write: () => Promise<string>;
  sent: () => Promise<SentFiles>;
}

/** Runs the work in a temporary folder with the draft's list. */
export async function withDraftFiles<Answer>(store: Store, open: OpenDraft, work: (files: DraftFiles) => Promise<Answer>): Promise<Answer> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-draft-'));
  try {
    const { list } = open.draft;
    const { name } = list;
    const path = join(folder, name);
    await pipeline(Readable.from(readDraftList(store, list)), createWriteStream(path, { mode: 0o600 }));
    const text = campaignYaml(open);
    const write = async () => {
      const written = join(folder, 'campaign.yaml');
      await writeFile(written, text, { mode: 0o600 });
      return written;
    };
    return await work({
      folder,
      listPath: path,
      read: () => readCampaignFile(join(folder, 'campaign.yaml'), text),
      write,
      sent: async () => ({
        folder,
        paths: { campaign: await write(), list: path },
        hashes: { campaign: createHash('sha256').update(text).digest('hex'), list: list.listId },
      }),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
