import { campaignRules, readCampaignFile } from '../../../campaign/file/file.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { CampaignFileError } from '../../../shared/input/errors.ts';
import { campaignYaml, mostVariables, partsBetween, variablesOf } from './content.ts';
import { findTakenId } from './settings.ts';
import { pageFields, columnFields, fieldsOf, formParts, otherField, timesZone, type FormPart } from './parts.ts';
import { readWindows } from '../../../rules/hours/weekly-hours.ts';
import { isTimeZoneName } from '../../../rules/hours/time-zone.ts';
import type { ViewRequest } from '../core/view.ts';
import type { CampaignFile } from '../../../campaign/file/campaign-file.ts';
import type { DraftFields, OpenDraft, FieldProblem } from './draft-types.ts';

/** A draft as read from its campaign file, or its problems. */
export type DraftReading = { ok: true; file: CampaignFile; rules: CampaignRules } | { ok: false; problems: FieldProblem[] };

/** Reads a draft as `carillon check` would. `now`: selects the holidays. */
export async function readDraft(
  { sample, ...open }: Pick<OpenDraft, 'draft' | 'fields' | 'sample' | 'copied'>,
  now: number,
): Promise<DraftReading> {
  try {
    const file = await readCampaignFile('campaign.yaml', campaignYaml(open));
    return { ok: true, file, rules: campaignRules(file, sample.columns, now) };
  } catch (error) {
    if (!(error instanceof CampaignFileError)) throw error;
    return {
      ok: false,
      problems: error.problems.map(({ path, message }) => ({
        field: fieldAt(path, open.fields),
        message: sentence(message),
      })),
    };
  }
}

/** `usable`: the draft without its problems, so that the rest can be evaluated. */
export interface EvaluatedDraft {
  problems: readonly FieldProblem[];
  usable: OpenDraft;
}

/** Columns are checked once settings are readable, templates once columns are known. */
const mostRounds = 4;

/** Finds all problems of a draft: none hides another. */
export async function evaluateDraft({ context, now }: Pick<ViewRequest, 'context' | 'now'>, open: OpenDraft): Promise<EvaluatedDraft> {
  const problems: FieldProblem[] = [...repeatedNames(open.fields), ...(await findTakenId(context.store, open.fields))];
  const unused = unusedProblems(open.fields);
  // With an invalid zone, start and end have no meaning.
  const read = { ...open, fields: unused.some(({ field }) => field === timesZone) ? { ...open.fields, [timesZone]: '' } : open.fields };
  let usable = { ...read, fields: without(read, problems) };
  for (let round = 0; round < mostRounds; round += 1) {
    const reading = await readDraft(round === 0 ? read : usable, now);
    if (reading.ok) break;
    problems.push(...reading.problems);
    usable = { ...read, fields: without(read, problems), copied: withoutBad(open, problems) };
  }
  return { problems: [...problems, ...unused], usable };
}

/** Problems in fields that another choice leaves out now: they would surface when that choice changes. */
function unusedProblems(fields: DraftFields): FieldProblem[] {
  const days = fields['hours'] === 'week' ? [] : fieldsOf.calls.filter((name) => name.startsWith('hours.'));
  const problems = days.flatMap((field): FieldProblem[] => {
    const windows = partsBetween(fields[field] ?? '', pageFields.get(field)?.between);
    const read = windows.length === 0 ? [] : readWindows(windows);
    return 'fix' in read ? [{ field, message: sentence(read.fix) }] : [];
  });
  const zone = fields[timesZone]?.trim() ?? '';
  if (zone === '' || isTimeZoneName(zone)) return problems;
  return [...problems, { field: timesZone, message: 'Write the name of a time zone such as America/New_York.' }];
}

export function partOf(field: string): FormPart {
  return formParts.find((part) => fieldsOf[part].some((own) => isUnder(field, own))) ?? 'calls';
}

function withoutBad({ copied }: OpenDraft, problems: readonly FieldProblem[]): OpenDraft['copied'] {
  if (copied === undefined) return undefined;
  const good = Object.entries(copied.more).filter(([key]) => !problems.some(({ field }) => isUnder(field, key)));
  return { ...copied, more: Object.fromEntries(good) };
}

/** A draft without its problems, and with stand-ins for required values. */
function without({ fields, sample }: OpenDraft, problems: readonly FieldProblem[]): DraftFields {
  const bad = problems.map(({ field }) => /^(?:caps|consent)\./.exec(field)?.[0].slice(0, -1) ?? field);
  const good = Object.entries(fields).filter(([name]) => !bad.some((field) => isUnder(name, field)));
  const standIns: DraftFields = {
    id: 'draft',
    agent_id: 'agent',
    from_phone_number_id: 'number',
    'list.phone': sample.columns.find((column) => column.trim() !== '') ?? '',
  };
  const missing = Object.entries(standIns).filter(([name]) => bad.includes(name) || (fields[name] ?? '').trim() === '');
  const hours = bad.some((field) => isUnder(field, 'hours')) ? { hours: 'any' } : {};
  return { ...Object.fromEntries([...good, ...missing]), ...hours };
}

export function isUnder(field: string, name: string): boolean {
  return field === name || field.startsWith(`${name}.`);
}

/** Field behind a path of the campaign file. */
function fieldAt(path: string, fields: DraftFields): string {
  const plain = path.replaceAll(/\[\d+\]/g, '');
  if (plain === 'caps') return 'caps.calls';
  if (plain.startsWith('opt_out')) return 'opt_out.collected';
  const [, name] = /^variables\.values\.(.*)$/.exec(plain) ?? [];
  const found = variablesOf(fields).find((own) => own.name === name);
  return name === undefined || found === undefined ? plain : `variables.${found.at}`;
}

function sentence(message: string): string {
  const text = message.replace(/^is missing/, 'this is missing');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`.replace(/\.\.$/, '.');
}

export function withSent(open: OpenDraft, part: FormPart, sent: URLSearchParams): OpenDraft {
  const names = part === 'words' ? [...fieldsOf.words, ...variableFields] : fieldsOf[part];
  const isColumn = (name: string) => name === otherField || columnFields.includes(name);
  const others = Object.entries(open.fields).filter(([name]) => !names.includes(name) || isColumn(name));
  const written = names.flatMap((name): [string, string][] => {
    const values = isColumn(name) ? [] : sent.getAll(name);
    return values.length === 0 ? [] : [[name, values.join('\n').replaceAll('\r\n', '\n')]];
  });
  const columns = part === 'columns' ? sentColumns(open, sent) : {};
  return { ...open, fields: { ...Object.fromEntries([...others, ...written]), ...columns } };
}

const variableFields = Array.from({ length: mostVariables }, (_, at) => [`variables.${at}.name`, `variables.${at}.value`]).flat();

/** Use of each column; of two with one use, the changed one has it. */
function sentColumns({ fields, sample: { columns } }: OpenDraft, sent: URLSearchParams): DraftFields {
  const uses = columns.map((column, at) => {
    const before = useOf(fields, column);
    const after = sent.get(`column.${at}`) ?? before;
    return { column, use: after, isChanged: after !== before };
  });
  const inTurn = [...uses.filter(({ isChanged }) => !isChanged), ...uses.filter(({ isChanged }) => isChanged)];
  const chosen = new Map(inTurn.map(({ column, use }) => [use, column]));
  const others = uses.filter(({ use }) => use === otherField).map(({ column }) => column);
  return { ...Object.fromEntries(columnFields.map((field) => [field, chosen.get(field) ?? ''])), [otherField]: others.join('\n') };
}

/** Use of a column; empty: in texts at most. */
export function useOf(fields: DraftFields, column: string): string {
  const isOther = (fields[otherField] ?? '').split('\n').includes(column);
  return columnFields.find((field) => fields[field] === column) ?? (isOther ? otherField : '');
}

function repeatedNames(fields: DraftFields): FieldProblem[] {
  const variables = variablesOf(fields);
  return variables.flatMap(({ at, name }) => {
    const first = variables.find((own) => own.name === name);
    if (name === '' || first === undefined || first.at === at) return [];
    return [{ field: `variables.${at}`, message: `Variable ${first.at + 1} has this name; write another one.` }];
  });
}
