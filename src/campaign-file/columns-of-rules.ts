import { findColumn, theColumn } from '../domain/columns.ts';
import type { CampaignFile } from './file.ts';
import { problemAt, showValue } from '../input/problems.ts';
import { CampaignFileError, type CampaignProblem } from '../input/errors.ts';
import { didYouMean } from '../domain/nearest-name.ts';
import { listTemplates, readTemplate } from './setting-templates.ts';

/** A column that a campaign file names, and where. */
interface NamedColumn {
  name: string;
  path: PropertyKey[];
  use: 'this names' | 'the template uses';
}

/** Columns that a message names. */
const mostShown = 60;

const columnSettings = ['phone', 'id', 'timezone', 'country', 'state', 'zip', 'not_before', 'expires_at'] as const;

/** Every column that settings and templates of a campaign file name. */
export function namedColumns({ settings }: Pick<CampaignFile, 'settings'>): NamedColumn[] {
  const bySetting = columnSettings.flatMap((key): NamedColumn[] => {
    const name = settings.list[key];
    return name === undefined ? [] : [{ name, path: ['list', key], use: 'this names' }];
  });
  const byTemplate = listTemplates(settings).flatMap(({ path, template }): NamedColumn[] => {
    const reading = readTemplate(template);
    return 'fault' in reading ? [] : reading.variables.map((name) => ({ name, path, use: 'the template uses' }));
  });
  return [...bySetting, ...byTemplate];
}

/**
 * Refuses columns that the list does not have, and names that fit several.
 * @throws CampaignFileError
 */
export function refuseUnknownColumns(file: CampaignFile, columns: readonly string[]): void {
  const problems = namedColumns(file).flatMap(({ name, path, use }): CampaignProblem[] => {
    const found = findColumn(name, columns);
    if (found !== null && 'column' in found) return [];
    const fault = found === null ? describeMissing(file, name, columns) : describeSeveral(found.several);
    return [problemAt(file.lineOf, path, `${use} ${JSON.stringify(name)}, which ${fault}`)];
  });
  if (problems.length > 0) throw new CampaignFileError(file.path, problems);
}

/** The column of the list that a setting means, as the header writes it; null where the setting is left out. */
export function columnOf(name: string | undefined, columns: readonly string[]): string | null {
  return name === undefined ? null : (theColumn(name, columns) ?? name);
}

function describeMissing(file: CampaignFile, name: string, columns: readonly string[]): string {
  const advice = didYouMean(name, columns);
  const shown = columns.slice(0, mostShown).map((column) => showValue(column));
  const more = columns.length > mostShown ? ` and ${String(columns.length - mostShown)} more` : '';
  return `is no column of the list.${advice} In order, the columns of ${file.settings.list.file} are ${shown.join(', ')}${more}`;
}

function describeSeveral(columns: readonly string[]): string {
  const names = columns.map((column) => showValue(column)).join(' and ');
  return `fits ${names} equally; write the name exactly as in the header`;
}
