import type { ViewRequest } from '../core/view.ts';
import { mostVariables } from './content.ts';
import { problemsOfStep, type FieldProblem } from './reading.ts';
import type { DraftFields, OpenDraft } from './settings.ts';
import { fieldsOf, formSteps, type FormStep } from './steps.ts';
import { findTakenId } from './taken-id.ts';

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
