import { DateTime } from 'luxon';
import { basename } from 'node:path';
import { everyNumbering } from '../../shared/input/numbering.ts';
import { readPhoneNumber } from '../../shared/input/phone-number.ts';
import { purposeScope } from '../../rules/consent.ts';
import { parseDuration } from '../../shared/input/times.ts';
import { UsageError } from '../../shared/input/errors.ts';
import { importSuppressions } from '../../ledger/people/suppression-import.ts';
import { numbersOfPerson } from '../../ledger/read/callee.ts';
import { accountScope, addSuppressions, findEntries, removeSuppressions, type StoredSuppression } from '../../ledger/rows/suppressions.ts';
import { readNumberList } from '../../list/one-column.ts';
import { RowIndex } from '../../list/row-index.ts';
import type { Control } from './control.ts';
import { requireCampaign } from './ledger.ts';
import { readServiceTime } from './service.ts';

export interface EntryTerms {
  /** Scope: one campaign; omitted: the whole database. */
  campaign?: string | undefined;
  /** The one purpose whose consent is withdrawn, in all campaigns; not with `campaign`. */
  purpose?: string | undefined;
  reason?: string | undefined;
  /** Epoch ms of service time; null: forever. */
  expiresAt: number | null;
}

/** To E.164, each once; `region`: of numbers without +. Throws UsageError naming the first invalid one by position only. */
export function readNumbers(numbers: readonly string[], region?: string): string[] {
  const read = numbers.map((text, index) => {
    const number = readPhoneNumber(text, region ?? null, everyNumbering());
    if (!number.ok) throw new UsageError(`Number ${index + 1} of ${numbers.length} cannot be used: ${number.hint}.`);
    return number.e164;
  });
  return [...new Set(read)];
}

/** The named numbers, or all that any list has under the id `person`. Throws UsageError for both or neither, and for an unknown id. */
export async function readRecipientNumbers(
  { store }: Pick<Control, 'store'>,
  { numbers = [], person, region }: { numbers?: readonly string[] | undefined; person?: string | undefined; region?: string | undefined },
): Promise<string[]> {
  if ((numbers.length === 0) === (person === undefined)) throw new UsageError('Write the numbers, or the id of a person; one of the two.');
  if (person === undefined) return readNumbers(numbers, region);
  const found = await numbersOfPerson(store.db, person);
  if (found.length === 0) throw new UsageError(`No list has anybody under the id ${JSON.stringify(person)}. Write the numbers instead.`);
  return found;
}

/** A day ends last at UTC-12. */
const endOfDayBehindUtc = { days: 1, hours: 12 };

/** End of a duration such as 90d, or of a date in the last time zone on earth; null for anything else. */
export function endOfTerm(text: string, now: number): number | null {
  const duration = parseDuration(text);
  if (duration !== null) return now + duration;
  const day = DateTime.fromFormat(text, 'yyyy-MM-dd', { zone: 'utc' });
  return day.isValid ? day.plus(endOfDayBehindUtc).toMillis() : null;
}

/** Throws UsageError and UnknownCampaignError. */
async function readScope(control: Control, { campaign, purpose }: Pick<EntryTerms, 'campaign' | 'purpose'>): Promise<string> {
  if (campaign !== undefined && purpose !== undefined)
    throw new UsageError('An entry is for one campaign or for one purpose; leave one of the two out.');
  if (campaign !== undefined) return (await requireCampaign(control.store, campaign)).campaignId;
  return purpose === undefined ? accountScope : purposeScope(purpose);
}

/** An entry for an unknown or ended campaign would protect no recipient. Throws UsageError and UnknownCampaignError. */
async function readTerms(control: Control, { campaign, purpose, reason, expiresAt }: EntryTerms) {
  const now = await readServiceTime(control);
  if (expiresAt !== null && expiresAt <= now)
    throw new UsageError(`An entry until ${new Date(expiresAt).toISOString()} would be over; write a later date.`);
  const scope = await readScope(control, { campaign, purpose });
  if (purpose !== undefined && expiresAt !== null) throw new UsageError('Consent is taken back for good; leave the expiry out.');
  return { now, terms: { scope, reason: reason ?? null, expiresAt } };
}

/**
 * Adds numbers from `readNumbers`, which stops calls to them at once; answers how many were new or extended, and how many existed.
 * Repeating it changes nothing. Throws UsageError for expired terms, and UnknownCampaignError.
 */
export async function addToDoNotCall(
  control: Control,
  numbers: readonly string[],
  { source, ...entry }: EntryTerms & { source: string },
): Promise<{ added: number; known: number }> {
  const { now, terms } = await readTerms(control, entry);
  const entries = numbers.map((e164) => ({ ...terms, e164, source }));
  const added = await addSuppressions(control.store, entries, now);
  return { added, known: numbers.length - added };
}

/**
 * Allows calls to numbers from `readNumbers` again; `campaign` and `purpose`: the entry's scope. Only consent given later, at
 * `consentedAt`, lifts withdrawn consent. Repeating it changes nothing. Throws UsageError and UnknownCampaignError.
 */
export async function removeFromDoNotCall(
  control: Control,
  numbers: readonly string[],
  { campaign, purpose, consentedAt }: Pick<EntryTerms, 'campaign' | 'purpose'> & { consentedAt?: number | undefined } = {},
): Promise<{ scope: string; removed: number; unknown: number }> {
  const now = await readServiceTime(control);
  const scope = await readScope(control, { campaign, purpose });
  if (purpose === undefined && consentedAt !== undefined)
    throw new UsageError('A newer consent lifts what was taken back for a purpose; name it, or leave the time of the consent out.');
  if (purpose !== undefined) await requireNewerConsent(control, { numbers, scope, consentedAt, now });
  const removed = await removeSuppressions(control.store, { scope, now, before: consentedAt }, numbers);
  return { scope, removed, unknown: numbers.length - removed };
}

/** Throws UsageError unless consent followed its withdrawal, and not in the future. */
async function requireNewerConsent(
  control: Control,
  { numbers, scope, consentedAt, now }: { numbers: readonly string[]; scope: string; consentedAt: number | undefined; now: number },
): Promise<void> {
  if (consentedAt === undefined) throw new UsageError('Consent was taken back for this purpose: say when the newer one was given.');
  if (consentedAt > now) throw new UsageError(`A consent of ${new Date(consentedAt).toISOString()} is not given yet; write when it was.`);
  const entries = (await findEntries(control.store.db, numbers)).filter((entry) => entry.scope === scope);
  const later = entries.filter(({ createdAt }) => createdAt >= consentedAt);
  if (later.length === 0) return;
  const taken = new Date(Math.max(...later.map(({ createdAt }) => createdAt))).toISOString();
  const whose = later.length === 1 ? 'one number' : `${later.length} numbers`;
  throw new UsageError(`Consent of ${whose} was taken back at ${taken}, after the one that you name. Ask them again, or leave them out.`);
}

/** Includes expired entries. */
export interface CheckedNumber {
  e164: string;
  /** Whether an entry is in force, even for one campaign only. */
  suppressed: boolean;
  entries: StoredSuppression[];
}

/** For numbers from `readNumbers`; `now`: the service's time. */
export async function checkDoNotCall(control: Control, e164s: readonly string[]): Promise<{ now: number; numbers: CheckedNumber[] }> {
  const now = await readServiceTime(control);
  const found = await findEntries(control.store.db, e164s);
  const numbers = e164s.map((e164) => {
    const entries = found.filter((entry) => entry.e164 === e164);
    const suppressed = entries.some(({ expiresAt }) => expiresAt === null || expiresAt > now);
    return { e164, suppressed, entries };
  });
  return { now, numbers };
}

interface NumberFile {
  path: string;
  /** Default: the name in `path`. */
  name?: string;
  delimiter?: string | undefined;
  /** Column of the numbers; omitted: the only one. */
  column?: string | undefined;
  region?: string | undefined;
  onBad: (line: number, hint: string) => void;
  onProgress: (rows: number) => void;
}

export interface ImportCounts {
  rows: number;
  added: number;
  /** Existing entries. */
  known: number;
  /** Duplicates within the file. */
  repeated: number;
  /** Lines that are no phone number, and protect no recipient. */
  bad: number;
}

/**
 * Streams a file into the do-not-call list, all of its numbers or none; other lines are skipped and counted. Repeating it changes nothing.
 * Throws ListFileError, UsageError for expired terms, and UnknownCampaignError.
 */
export async function importDoNotCall(
  control: Control,
  { path, name = basename(path), delimiter, column, region, onBad, onProgress }: NumberFile,
  entry: EntryTerms,
): Promise<ImportCounts> {
  const counts = { rows: 0, added: 0, known: 0, repeated: 0, bad: 0 };
  const lines = new RowIndex();
  const { now, terms } = await readTerms(control, entry);
  async function* readParts(): AsyncGenerator<string[]> {
    for await (const rows of readNumberList({ path, delimiter, column: column ?? null, region: region ?? null })) {
      const numbers: string[] = [];
      for (const { line, e164, hint } of rows) {
        counts.rows += 1;
        if (e164 === null) {
          counts.bad += 1;
          onBad(line, hint ?? 'no number');
        } else if (lines.rowOf(Number(e164.slice(1)), counts.rows) !== null) counts.repeated += 1;
        else numbers.push(e164);
      }
      yield numbers;
      onProgress(counts.rows);
    }
  }
  const source = { terms: { ...terms, source: `import:${name}` }, clock: { now, nowReal: control.now() } };
  counts.added = await importSuppressions(control.store, readParts(), source);
  counts.known = counts.rows - counts.bad - counts.repeated - counts.added;
  return counts;
}
