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

/** Fields of the page: paths in the campaign file, without list indices. */
export const asked: ReadonlyMap<string, AskedField> = new Map(askedIn(campaignSettings));
/** The only field that is no setting: the zone of start and end. */
export const timesZone = 'times_zone';

/** Fields that name columns of consent. */
const consentFields = ['consent.yes', 'consent.at', 'consent.source', 'consent.text'] as const;

export const columnFields: readonly string[] = [...rowFieldList.map(({ key }) => `list.${key}`), ...consentFields];

/** Columns that look like consent but are not, one per line. */
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

/** Values of a new draft. */
export const usualFields: Readonly<Record<string, string>> = Object.fromEntries(
  [...asked].flatMap(([name, { usual }]) => (usual === undefined ? [] : [[name, usual]])),
);

export type FormPart = FormField['part'];

/** Settings that each part may write. */
export const fieldsOf: Readonly<Record<FormPart, readonly string[]>> = {
  columns: [...new Set(fieldsAsked('columns', ...columnFields))],
  words: fieldsAsked('words', 'variables'),
  calls: fieldsAsked('calls', timesZone),
  name: fieldsAsked('name'),
};

export const formParts = Object.keys(fieldsOf) as FormPart[];
