import { rowFieldList } from '../../../campaign/file/row-fields.ts';
import { campaignSettings } from '../../../campaign/file/schema.ts';
import type { FormField, Setting, SettingGroup } from '../../../campaign/file/settings/setting.ts';

type AskedField = FormField & Pick<Setting, 'label'>;

function* askedIn(group: SettingGroup, above = ''): Generator<[string, AskedField]> {
  for (const [key, { label, form, settings = {} }] of Object.entries(group)) {
    if (form !== undefined) yield [`${above}${key}`, { ...form, label: label ?? key }];
    yield* askedIn(settings, `${above}${key}.`);
  }
}

/** What the forms ask for, by the names of their fields: paths in the campaign file, without the places in lists. */
export const asked: ReadonlyMap<string, AskedField> = new Map(askedIn(campaignSettings));
/** The one field that is no setting: the zone in which begin and end are written. */
export const timesZone = 'times_zone';

function fieldsAsked(step: FormStep, ...more: string[]): string[] {
  return [...[...asked.keys()].filter((name) => asked.get(name)?.step === step), ...more];
}

/** What a field is called. */
export function labelOf(field: string): string {
  return asked.get(field)?.label ?? (field === timesZone ? 'Time zone of begin and end' : field);
}

/** A field as a form shows it. */
export function fieldOf(name: string) {
  return { name, ...asked.get(name), label: labelOf(name) };
}

/** What a new draft says before anybody has said anything. */
export const usualFields: Readonly<Record<string, string>> = Object.fromEntries(
  [...asked].flatMap(([name, { usual }]) => (usual === undefined ? [] : [[name, usual]])),
);

/** The steps of a new campaign, in their order, with what each may write: names of settings as the campaign file has them. */
export const steps = [
  { name: 'list', title: 'List', fields: [] },
  {
    name: 'columns',
    title: 'Columns',
    fields: fieldsAsked('columns', ...rowFieldList.map(({ key }) => `list.${key}`)),
  },
  { name: 'words', title: 'Words', fields: fieldsAsked('words', 'variables') },
  {
    name: 'calls',
    title: 'Calls',
    fields: fieldsAsked('calls', timesZone),
  },
  { name: 'check', title: 'Check', fields: [] },
] as const satisfies { name: string; title: string; fields: readonly string[] }[];

export type StepName = (typeof steps)[number]['name'];

/** Steps that a form saves. */
export type FormStep = 'columns' | 'words' | 'calls';
export const formSteps = ['columns', 'words', 'calls'] as const satisfies readonly FormStep[];

export function fieldsOf(step: StepName): readonly string[] {
  return steps.find(({ name }) => name === step)?.fields ?? [];
}

/** The step that writes a field; null: none does. */
export function stepOf(field: string): FormStep | null {
  return formSteps.find((step) => fieldsOf(step).some((own) => own === field || field.startsWith(`${own}.`))) ?? null;
}

export function stepPath(draftId: string, step: StepName): string {
  return `/new/${encodeURIComponent(draftId)}/${step}`;
}
