import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { consentKind, isYesOrNo } from '../../rules/consent.ts';
import { theColumn } from '../../rules/columns.ts';
import type { ListRow } from '../../list/recipients.ts';
import { CampaignFileError } from '../../shared/input/errors.ts';
import { problemAt } from '../../shared/input/problems.ts';
import type { CampaignFile } from '../file/campaign-file.ts';

/** Thrown when the campaign file leaves open who gave consent. `summary` has no text from the list. */
export class ConsentOpenError extends CampaignFileError {
  readonly summary: string;

  constructor({ path, lineOf }: Pick<CampaignFile, 'path' | 'lineOf'>, setting: string, summary: string, message: string) {
    super(path, [problemAt(lineOf, [setting], message)]);
    this.summary = summary;
  }
}

export class ConsentStats {
  readonly #columns: { name: string; index: number; isDetail: boolean; answers: boolean }[];
  readonly #isMapped: boolean;

  constructor({ settings }: Pick<CampaignFile, 'settings'>, { list, consent }: Pick<CampaignRules, 'list' | 'consent'>) {
    const mapped: unknown[] = Object.entries({ ...list, ...consent }).flatMap(([key, name]) => (key.endsWith('Column') ? [name] : []));
    const answered = [...mapped, ...(settings.list.not_consent ?? []).map((name) => theColumn(name, list.columns))];
    this.#isMapped = consent !== undefined;
    this.#columns = list.columns.flatMap((name, index) => {
      const kind = answered.includes(name) ? null : consentKind(name);
      return kind === null ? [] : [{ name, index, isDetail: kind === 'detail', answers: false }];
    });
  }

  async *count(chunks: AsyncIterable<ListRow[]>): AsyncGenerator<ListRow[]> {
    for await (const rows of chunks) {
      for (const column of this.#columns) column.answers ||= rows.some(({ cells }) => isYesOrNo(cells[column.index] ?? ''));
      yield rows;
    }
  }

  /** Unexplained consent-like columns. With consent mapped, detail columns count only if they hold yes or no. */
  open(): string[] {
    return this.#columns.filter(({ isDetail, answers }) => !this.#isMapped || !isDetail || answers).map(({ name }) => name);
  }
}

type RestsOn = { [Key in 'basis' | 'consent']?: unknown };

/** Why these rules cannot rest on consent; null: columns are named, or the basis is another. */
export function unnamedConsent({ basis, consent }: RestsOn): string | null {
  if (basis !== 'consent' || consent !== undefined) return null;
  return 'The campaign file states basis: consent and names no columns of consent (consent:).';
}

/** Refuses basis consent without consent columns, and unexplained consent-like columns. Throws ConsentOpenError. */
export function refuseOpenConsent(file: CampaignFile, rules: RestsOn, stats: ConsentStats | null): void {
  const example = 'consent: { at: consent_at, source: consent_source, text: consent_text }';
  const unnamed = unnamedConsent(rules);
  if (unnamed !== null) {
    const message = `states consent, and no column of the list says who gave it; write ${example}, or state what else the calls rest on`;
    throw new ConsentOpenError(file, 'basis', unnamed, message);
  }
  const open = stats?.open() ?? [];
  const names = open.map((name) => JSON.stringify(name)).join(', ');
  if (open.length === 0) return;
  const [subject, is] =
    open.length === 1 ? ['column', 'looks like consent and is not used'] : ['columns', 'look like consent and are not used'];
  const message =
    `${subject} ${names} ${is}, so people who said no would be called; write ${example} (or consent.yes for a column of yes and no), ` +
    `or, if it is something else, not_consent: [${names}] below list`;
  const summary = 'The list has columns that look like consent, and the campaign file does not say what they are.';
  throw new ConsentOpenError(file, 'list', summary, message);
}
