import { rowFieldList } from '../../../list/row-fields.ts';
import { campaignSettings } from '../../../campaign/file/schema.ts';
import type { FormField, Setting, SettingGroup } from '../../../shared/input/setting.ts';

type PageField = FormField & Pick<Setting, 'label'>;

function* pageFieldsIn(group: SettingGroup, above = ''): Generator<[string, PageField]> {
  for (const [key, { label, form, settings = {} }] of Object.entries(group)) {
    if (form !== undefined) yield [`${above}${key}`, { ...form, label: label ?? key }];
    yield* pageFieldsIn(settings, `${above}${key}.`);
  }
}

/** Fields of the page: paths in the campaign file, without list indices. */
export const pageFields: ReadonlyMap<string, PageField> = new Map(pageFieldsIn(campaignSettings));
/** The only field that is no setting: the zone of start and end. */
export const timesZone = 'times_zone';

/** Fields that name columns of consent. */
const consentFields = ['consent.yes', 'consent.at', 'consent.source', 'consent.text'] as const;

export const columnFields: readonly string[] = [...rowFieldList.map(({ key }) => `list.${key}`), ...consentFields];

/** Columns that look like consent but are not, one per line. */
export const otherField = 'list.not_consent';

function fieldNamesOf(part: FormPart, ...more: string[]): string[] {
  return [...[...pageFields.keys()].filter((name) => pageFields.get(name)?.part === part), ...more];
}

const labels: ReadonlyMap<string, string> = new Map([
  ...rowFieldList.map(({ key, label }) => [`list.${key}`, label] as const),
  [timesZone, 'Time zone of begin and end'],
]);

export function labelOf(field: string): string {
  const [, at] = /^variables\.(\d+)/.exec(field) ?? [];
  return pageFields.get(field)?.label ?? labels.get(field) ?? (at === undefined ? field : `Variable ${Number(at) + 1}`);
}

export function fieldOf(name: string) {
  return { name, ...pageFields.get(name), label: labelOf(name) };
}

/** Values of a new draft. */
export const usualFields: Readonly<Record<string, string>> = Object.fromEntries(
  [...pageFields].flatMap(([name, { usual }]) => (usual === undefined ? [] : [[name, usual]])),
);

export type FormPart = FormField['part'];

/** Settings that each part may write. */
export const fieldsOf: Readonly<Record<FormPart, readonly string[]>> = {
  columns: [...new Set(fieldNamesOf('columns', ...columnFields))],
  words: fieldNamesOf('words', 'variables'),
  calls: fieldNamesOf('calls', timesZone),
  name: fieldNamesOf('name'),
};

export const formParts = Object.keys(fieldsOf) as FormPart[];
