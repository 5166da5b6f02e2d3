import { DateTime } from 'luxon';
import { stringify } from 'yaml';
import { rowFieldList } from '../../campaign-file/row-fields.ts';
import { weekdays } from '../../domain/campaign-rules.ts';
import type { DraftFields } from './settings.ts';

/** Rows of variables that the form may have. */
export const mostVariables = 20;

/**
 * A campaign file that says what the form says; what is not written is left out, so that the file's own defaults hold, and what cannot be
 * used stands in it as it was written, so that the reader of campaign files says what is wrong.
 */
export function campaignYaml(fields: DraftFields, listName: string): string {
  const text = stringify(campaignContent(fields, listName), { lineWidth: 120, singleQuote: true });
  return `# Put this file beside ${JSON.stringify(listName)}, then: carillon check campaign.yaml\n${text}`;
}

function campaignContent(fields: DraftFields, listName: string): object {
  const value = (name: string) => fields[name]?.trim() || undefined;
  const under = (...names: string[]) => compact(Object.fromEntries(names.map((name) => [lastPart(name), value(name)])));
  const delays = (how: string) => oneOrAll(listOf(fields[`retry.${how}`], /[,;]+/));
  const holidays = listOf(fields['holidays'], /[\s,;]+/);
  const opensAt = value('starts_at');
  const endsAt = value('ends_at');
  return compact({
    id: value('id'),
    name: value('name'),
    agent_id: value('agent_id'),
    from_phone_number_id: oneOrAll(listOf(fields['from_phone_number_id'], /[\n,]+/)),
    list: {
      file: listName,
      delimiter: fields['list.delimiter'] || undefined,
      ...under('list.sheet', ...rowFieldList.map(({ key }) => `list.${key}`)),
      ...under('list.fallback_timezone', 'list.default_region'),
    },
    first_message: fields['first_message']?.trim() === '' ? undefined : fields['first_message'],
    // Without values too: a reference goes along by which the record of each call is known.
    variables: { values: Object.fromEntries(variablesOf(fields)) },
    hours: fields['hours'] === 'any' ? 'any' : weekOf(fields),
    holidays: holidays.length === 0 ? undefined : holidays,
    basis: value('basis'),
    starts_at: opensAt === undefined ? undefined : zonedInstant(opensAt, value('times_zone')),
    ends_at: endsAt === undefined ? undefined : zonedInstant(endsAt, value('times_zone')),
    retry: filled({
      ...compact({ max_attempts: whole(value('retry.max_attempts')) }),
      ...compact(Object.fromEntries(['busy', 'no_answer', 'voicemail'].map((how) => [how, delays(how)]))),
    }),
    pacing: filled(compact({ max_concurrent_calls: whole(value('pacing.max_concurrent_calls')) })),
    caps: capsOf(value('caps.calls'), value('caps.within')),
    opt_out:
      value('opt_out.collected') === undefined
        ? undefined
        : [{ collected: value('opt_out.collected'), equals: [true, 'true', 'yes'] }],
  });
}

/** Names and templates of the variables, in the order of the form; a row without a name but with a text has an empty one. */
export function variablesOf(fields: DraftFields): [name: string, template: string][] {
  return Array.from({ length: mostVariables }, (_, at): [string, string] => [
    fields[`variables.${at}.name`]?.trim() ?? '',
    fields[`variables.${at}.value`] ?? '',
  ]).filter(([name, template]) => name !== '' || template.trim() !== '');
}

function weekOf(fields: DraftFields): object | undefined {
  const open = weekdays.flatMap((day) => {
    const windows = listOf(fields[`hours.${day}`], /[,;]+/);
    return windows.length === 0 ? [] : [[day, oneOrAll(windows)]];
  });
  return open.length === 0 ? undefined : (Object.fromEntries(open) as object);
}

function capsOf(calls: string | undefined, within: string | undefined): object[] | undefined {
  return calls === undefined && within === undefined ? undefined : [compact({ calls: whole(calls), within })];
}

/** `2030-03-01T09:00` on the clocks of a zone, with its offset; as it was written when there is no such time or zone. */
function zonedInstant(written: string, zone = 'UTC'): string {
  const at = DateTime.fromISO(written, { zone });
  return at.isValid ? at.toISO({ suppressMilliseconds: true }).replace(/Z$/, '+00:00') : `${written} ${zone}`;
}

/** A number where it is one; what else was written is for the reader to refuse. */
function whole(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : text;
}

function listOf(text: string | undefined, between: RegExp): string[] {
  return (text ?? '').split(between).map((part) => part.trim()).filter((part) => part !== ''); // prettier-ignore
}

function oneOrAll(values: string[]): string | string[] | undefined {
  return values.length > 1 ? values : values[0];
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

function compact(object: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

function filled(object: object): object | undefined {
  return Object.keys(object).length === 0 ? undefined : object;
}
