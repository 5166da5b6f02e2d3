import { dirname, resolve } from 'node:path';
import { isLoopback } from '../rules/service-api.ts';
import { schedulePlaceholders, placeholderValuesOf, type SchedulePlaceholder } from '../rules/hours/firing-time.ts';
import { isKeptUrl, keptUrlFix, KeptUrlError, revealUrl, type KeptUrl } from '../shared/input/kept-url.ts';
import { nearestName } from '../rules/nearest-name.ts';

export interface OpenListSource {
  kind: 'path' | 'url';
  pattern: string;
}

/** An open source, or a reference to a secret URL pattern. */
export type ListSource = OpenListSource | { kind: 'kept'; pattern: KeptUrl };

/** A scheduled run's list. `name` is safe to show: of a URL only the host, since path and query may hold a key. */
export type ListPlace = { kind: 'path'; path: string; name: string } | { kind: 'url'; url: string; name: string };

export class ListSourceError extends Error {
  override readonly name = 'ListSourceError' as const;
  readonly isBadInput = true;
}

const word = /\{\{\s*(\w*)\s*\}\}/g;
const longestPattern = 4096;

/** Parses a list source such as `lists/{{ date }}.csv` or `https://host.example/{{ date }}.csv`. Throws ListSourceError. */
export function readListSource(written: string): ListSource {
  const pattern = written.trim();
  if (pattern === '') refuse('is empty', 'name a file, such as lists/{{ date }}.csv, or a URL');
  if (pattern.length > longestPattern) refuse('is too long', `write at most ${longestPattern} characters`);
  for (const [, name = ''] of pattern.matchAll(word)) {
    if (isScheduledRunWord(name)) continue;
    const nearest = nearestName(name, Object.keys(schedulePlaceholders));
    const guess = nearest === null ? '' : `did you mean ${nearest}? `;
    refuse(`names ${JSON.stringify(name)}`, `${guess}It may name ${Object.keys(schedulePlaceholders).join(', ')}`);
  }
  if (/\{\{|\}\}/.test(pattern.replaceAll(word, ''))) refuse('has a brace too many or too few', 'write {{ date }} for a part of the time');
  if (isKeptUrl(pattern)) return { kind: 'kept', pattern };
  if (/^(env|url-file):\/\//i.test(pattern)) refuse('names no variable and no file', `write ${keptUrlFix}`);
  if (/^file:/i.test(pattern)) refuse('is a file: URL', 'write the path itself');
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(pattern)) return { kind: 'path', pattern };
  requireUsableUrl(pattern.replaceAll(word, '0'));
  return { kind: 'url', pattern };
}

/** Resolves a reference to its URL pattern. Throws KeptUrlError, which reveals nothing of the value. */
export async function openListSource(source: ListSource, readVariable: (name: string) => string | undefined): Promise<OpenListSource> {
  if (source.kind !== 'kept') return source;
  const url = await revealUrl(source.pattern, readVariable);
  try {
    const found = readListSource(url);
    if (found.kind === 'url') return found;
  } catch (error) {
    if (!(error instanceof ListSourceError)) throw error;
  }
  throw new KeptUrlError(`what stands in ${source.pattern} is no address of a list`);
}

/** The list of the run at `scheduledAtMs`; a path resolves against the folder of the campaign file. */
export function placeOfList(
  source: OpenListSource,
  scheduledRun: { campaignPath: string; scheduledAtMs: number; timeZone: string },
): ListPlace {
  const words = placeholderValuesOf(scheduledRun.scheduledAtMs, scheduledRun.timeZone);
  const written = source.pattern.replaceAll(word, (whole, name: string) => (isScheduledRunWord(name) ? words[name] : whole));
  if (source.kind === 'path') return { kind: 'path', path: resolve(dirname(scheduledRun.campaignPath), written), name: written };
  return { kind: 'url', url: written, name: new URL(written).host };
}

/** Hides the query and fragment of a URL, which often hold a key. */
export function showSource({ kind, pattern }: ListSource): string {
  return kind === 'url' ? pattern.replace(/[?#].*$/s, '?…') : pattern;
}

function isScheduledRunWord(name: string): name is SchedulePlaceholder {
  return Object.hasOwn(schedulePlaceholders, name);
}

function requireUsableUrl(text: string): void {
  if (!URL.canParse(text)) refuse('is not a URL', 'write one such as https://host.example/lists/{{ date }}.csv');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    refuse('holds a user name or password', 'use a URL that needs none, such as one that is signed');
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url)))
    refuse(`begins with ${url.protocol}//`, 'use https://, since a list is personal data; http:// is for this machine alone');
}

function refuse(fault: string, fix: string): never {
  throw new ListSourceError(`The list source ${fault}: ${fix}.`);
}
