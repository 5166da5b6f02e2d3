import { ownFields } from '../../campaign-file/row-fields.ts';

/** The steps of a new campaign, in their order, with what each may write: names of settings as the campaign file has them. */
export const steps = [
  { name: 'list', title: 'List', fields: [] },
  {
    name: 'columns',
    title: 'Columns',
    fields: [
      'list.phone',
      'list.default_region',
      'list.id',
      'list.timezone',
      'list.fallback_timezone',
      'list.country',
      'list.state',
      'list.zip',
      ...ownFields.map(({ key }) => `list.${key}`),
    ],
  },
  { name: 'words', title: 'Words', fields: ['first_message', 'variables'] },
  {
    name: 'calls',
    title: 'Calls',
    fields: [
      'id',
      'name',
      'agent_id',
      'from_phone_number_id',
      'hours',
      'hours.mon',
      'hours.tue',
      'hours.wed',
      'hours.thu',
      'hours.fri',
      'hours.sat',
      'hours.sun',
      'holidays',
      'basis',
      'starts_at',
      'ends_at',
      'times_zone',
      'pacing.max_concurrent_calls',
      'retry.max_attempts',
      'retry.busy',
      'retry.no_answer',
      'retry.voicemail',
      'caps.calls',
      'caps.within',
      'opt_out.collected',
    ],
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
