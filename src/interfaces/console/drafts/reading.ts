import { campaignRules, readCampaignFile, type CampaignFile } from '../../../campaign/file/file.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { CampaignFileError } from '../../../shared/input/errors.ts';
import { campaignYaml, variablesOf, mostVariables } from './content.ts';
import { type DraftFields, type OpenDraft, findTakenId } from './settings.ts';
import { fieldsOf, type FormStep, formSteps } from './steps.ts';
import type { ViewRequest } from '../core/view.ts';

/** What is wrong with a field, and what to do. */
export interface FieldProblem {
  field: string;
  message: string;
}

/** A draft as the reader of campaign files reads it, or all that is wrong with it. */
export type DraftReading = { ok: true; file: CampaignFile; rules: CampaignRules } | { ok: false; problems: FieldProblem[] };

/** Reads a draft as `carillon check` would read its campaign file. `now`: holidays are those of its time. */
export async function readDraft(
  { draft, fields, sample }: Pick<OpenDraft, 'draft' | 'fields' | 'sample'>,
  now: number,
): Promise<DraftReading> {
  try {
    const file = await readCampaignFile('campaign.yaml', campaignYaml(fields, draft.list.name));
    return { ok: true, file, rules: campaignRules(file, sample.columns, now) };
  } catch (error) {
    if (!(error instanceof CampaignFileError)) throw error;
    return {
      ok: false,
      problems: error.problems.map(({ path, message }) => ({
        field: fieldAt(path, fields),
        message: sentence(message),
      })),
    };
  }
}

/** What is wrong with the fields of one step, whatever the others still lack. */
export async function problemsOfStep(open: OpenDraft, step: FormStep, now: number): Promise<FieldProblem[]> {
  const own = fieldsOf(step);
  const reading = await readDraft({ ...open, fields: withStandIns(open, own) }, now);
  return reading.ok ? [] : reading.problems.filter(({ field }) => own.some((name) => isUnder(field, name)));
}

/** The draft with something in place of what it lacks, so that the rest of it can be read; `except`: fields that are left as they are. */
export function withStandIns({ fields, sample }: OpenDraft, except: readonly string[]): DraftFields {
  const standIns: DraftFields = {
    id: 'draft',
    agent_id: 'agent',
    from_phone_number_id: 'number',
    'list.phone': sample.columns.find((column) => column.trim() !== '') ?? '',
  };
  const missing = Object.entries(standIns).filter(([name]) => !except.includes(name) && (fields[name] ?? '').trim() === '');
  const hours = except.includes('hours') ? {} : { hours: 'any' };
  return { ...fields, ...hours, ...Object.fromEntries(missing) };
}

/** Whether a field is this one or a part of it. */
export function isUnder(field: string, name: string): boolean {
  return field === name || field.startsWith(`${name}.`);
}

/** The field that has written what stands at a path of the campaign file. */
function fieldAt(path: string, fields: DraftFields): string {
  const plain = path.replaceAll(/\[\d+\]/g, '');
  if (plain === 'caps') return 'caps.calls';
  if (plain.startsWith('opt_out')) return 'opt_out.collected';
  const [, name] = /^variables\.values\.(.*)$/.exec(plain) ?? [];
  const at = name === undefined ? -1 : variablesOf(fields).findIndex(([own]) => own === name);
  return at === -1 ? plain : `variables.${at}`;
}

function sentence(message: string): string {
  const text = message.replace(/^is missing/, 'this is missing');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`.replace(/\.\.$/, '.');
}

/** The draft as it would be with what the form of a step has sent. */
export function withSent(open: OpenDraft, step: FormStep, sent: URLSearchParams): OpenDraft {
  const own = fieldsOf(step);
  const others = Object.entries(open.fields).filter(
    ([name]) => !own.includes(name) && !(step === 'words' && name.startsWith('variables.')),
  );
  const written = own.flatMap((name): [string, string][] => {
    const values = sent.getAll(name);
    return values.length === 0 ? [] : [[name, values.join('\n').replaceAll('\r\n', '\n')]];
  });
  const variables = step === 'words' ? sentVariables(sent) : {};
  const done = formSteps.filter((name) => name === step || open.done.includes(name));
  return { ...open, fields: { ...Object.fromEntries([...others, ...written]), ...variables }, done };
}

/** What keeps a step from being saved. */
export async function problemsOfSent(
  { context, now }: Pick<ViewRequest, 'context' | 'now'>,
  open: OpenDraft,
  step: FormStep,
): Promise<FieldProblem[]> {
  const found = await problemsOfStep(open, step, now);
  if (step === 'calls') return [...found, ...(await findTakenId(context.store, open.fields))];
  return step === 'words' ? [...found, ...repeatedNames(open.fields)] : found;
}

/** Without gaps, so that what is wrong with one stands where it was written. */
function sentVariables(sent: URLSearchParams): DraftFields {
  const rows = Array.from({ length: mostVariables }, (_, at) => ({
    name: (sent.get(`variables.${at}.name`) ?? '').trim(),
    value: sent.get(`variables.${at}.value`) ?? '',
  })).filter(({ name, value }) => name !== '' || value.trim() !== '');
  return Object.fromEntries(
    rows.flatMap(({ name, value }, at): [string, string][] => [
      [`variables.${at}.name`, name],
      [`variables.${at}.value`, value],
    ]),
  );
}

function repeatedNames(fields: DraftFields): FieldProblem[] {
  const names = Array.from({ length: mostVariables }, (_, at) => fields[`variables.${at}.name`] ?? '');
  return names.flatMap((name, at) =>
    name !== '' && names.indexOf(name) < at
      ? [{ field: `variables.${at}`, message: `Variable ${names.indexOf(name) + 1} has this name; write another one.` }]
      : [],
  );
}
