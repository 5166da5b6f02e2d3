import { findColumn, theColumn } from '../../rules/columns.ts';
import { rowFieldList, rowFields, type RowFieldKey } from '../../list/row-fields.ts';
import { consentColumns } from './settings/consent.ts';
import { rulesOf } from '../../shared/input/setting.ts';
import { problemAt, showValue } from '../../shared/input/problems.ts';
import { CampaignFileError, type CampaignProblem } from '../../shared/input/errors.ts';
import { didYouMean } from '../../rules/nearest-name.ts';
import { listTemplates, readTemplate } from './settings/words.ts';
import { findHeader, type ListHeader } from '../../list/header.ts';
import type { CampaignFile } from './campaign-file.ts';

interface NamedColumn {
  name: string;
  path: PropertyKey[];
  use: 'this names' | 'the template uses';
}

const mostShown = 60;

function namedColumns({ settings }: Pick<CampaignFile, 'settings'>): NamedColumn[] {
  const bySetting = rowFieldList.flatMap(({ key }): NamedColumn[] => {
    const name = settings.list[key];
    return name === undefined ? [] : [{ name, path: ['list', key], use: 'this names' }];
  });
  const byConsent = consentColumns.flatMap((key): NamedColumn[] => {
    const name = settings.consent?.[key];
    return name === undefined ? [] : [{ name, path: ['consent', key], use: 'this names' }];
  });
  const byTemplate = listTemplates(settings).flatMap(({ path, template }): NamedColumn[] => {
    const reading = readTemplate(template);
    return 'fault' in reading ? [] : reading.variables.map((name) => ({ name, path, use: 'the template uses' }));
  });
  return [...bySetting, ...byConsent, ...byTemplate];
}

export function readHeader(file: CampaignFile): Promise<ListHeader> {
  const { sheet, encoding, default_region: defaultRegion = null } = file.settings.list;
  const names = [...new Set(namedColumns(file).map(({ name }) => name))];
  const mayBeEmpty = file.settings.stays_open !== undefined;
  const { listPath: path, delimiter, unnamedEncoding: unnamed } = file;
  return findHeader({ path, names, delimiter, sheet, encoding, unnamed, defaultRegion, mayBeEmpty });
}

export function refuseUnknownColumns(file: CampaignFile, columns: readonly string[]): void {
  const problems = namedColumns(file).flatMap(({ name, path, use }): CampaignProblem[] => {
    const found = findColumn(name, columns);
    if (found !== null && 'column' in found) return [];
    const fault = found === null ? describeMissing(file, name, columns) : describeSeveral(found.several);
    return [problemAt(file.lineOf, path, `${use} ${JSON.stringify(name)}, which ${fault}`)];
  });
  if (problems.length > 0) throw new CampaignFileError(file.path, problems);
}

/** Columns named by settings, as the header writes them; null for a setting left out. */
export function columnRules(list: CampaignFile['settings']['list'], columns: readonly string[]) {
  const named = rowFieldList.flatMap(({ key }) => {
    const name = list[key];
    return name === undefined ? [] : [[key, theColumn(name, columns) ?? name]];
  });
  return rulesOf(rowFields, Object.fromEntries(named) as Pick<typeof list, RowFieldKey>);
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
