import { rowFieldList } from '../../../list/row-fields.ts';
import { campaignSettings } from '../../../campaign/file/schema.ts';
import type { FormField, Setting, SettingGroup } from '../../../shared/input/setting.ts';

type AskedField = FormField & Pick<Setting, 'label'>;

function* askedIn(group: SettingGroup, above = ''): Generator<[string, AskedField]> {
  for (const [key, { label, form, settings = {} }] of Object.entries(group)) {
    if (form !== undefined) yield [`${above}${key}`, { ...form, label: label ?? key }];
    yield* askedIn(settings, `${above}${key}.`);
  }
}

/** What the page asks for, by the names of its fields: paths in the campaign file, without the places in lists. */
export const asked: ReadonlyMap<string, AskedField> = new Map(askedIn(campaignSettings));
/** The one field that is no setting: the zone in which begin and end are written. */
export const timesZone = 'times_zone';

/** Where consent is told by a column: fields that hold its name, as those of `list` do. */
const consentFields = ['consent.yes', 'consent.at', 'consent.source', 'consent.text'] as const;

export const columnFields: readonly string[] = [...rowFieldList.map(({ key }) => `list.${key}`), ...consentFields];

/** The field that holds, line by line, the columns that look like consent and are something else. */
export const otherField = 'list.not_consent';

function fieldsAsked(part: FormPart, ...more: string[]): string[] {
  return [...[...asked.keys()].filter((name) => asked.get(name)?.part === part), ...more];
}

const labels: ReadonlyMap<string, string> = new Map([
  ...rowFieldList.map(({ key, label }) => [`list.${key}`, label] as const),
  [timesZone, 'Time zone of begin and end'],
]);

export function labelOf(field: string): string {
  const [, at] = /^variables\.(\d+)/.exec(field) ?? [];
  return asked.get(field)?.label ?? labels.get(field) ?? (at === undefined ? field : `Variable ${Number(at) + 1}`);
}

export function fieldOf(name: string) {
  return { name, ...asked.get(name), label: labelOf(name) };
}

/** What a new draft says before anybody has said anything. */
export const usualFields: Readonly<Record<string, string>> = Object.fromEntries(
  [...asked].flatMap(([name, { usual }]) => (usual === undefined ? [] : [[name, usual]])),
);

export type FormPart = FormField['part'];

/** What each part may write: names of settings as the campaign file has them. */
export const fieldsOf: Readonly<Record<FormPart, readonly string[]>> = {
  columns: [...new Set(fieldsAsked('columns', ...columnFields))],
  words: fieldsAsked('words', 'variables'),
  calls: fieldsAsked('calls', timesZone),
  name: fieldsAsked('name'),
};

export const formParts = Object.keys(fieldsOf) as FormPart[];
