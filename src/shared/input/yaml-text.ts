import { readFile, stat } from 'node:fs/promises';
import { isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, stringify, visit, type Document } from 'yaml';
import { CampaignFileError, describeFileError, type CampaignProblem } from './errors.ts';
import type { LineOf } from './problems.ts';
import { textFault } from '../../rules/text.ts';

export interface CampaignText {
  content: unknown;
  lineOf: LineOf;
}

const largestBytes = 1_000_000;
/** Enough to repeat a window on seven days; too few for a YAML bomb. */
const mostAliases = 100;

export function campaignFileText(content: object): string {
  return stringify(content, { lineWidth: 120, singleQuote: true });
}

/** Reads a campaign file's text. Throws CampaignFileError when unreadable or not UTF-8. */
export async function loadCampaignText(path: string): Promise<string> {
  return decode(path, await readBytes(path));
}

/** Parses a campaign file, or its text `kept`. Throws CampaignFileError when unreadable, not UTF-8 or not YAML. */
export async function readCampaignText(path: string, kept?: string): Promise<CampaignText> {
  const text = kept ?? (await loadCampaignText(path));
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  const problems: CampaignProblem[] = [...document.errors, ...document.warnings].map((error) => ({
    line: lines.linePos(error.pos[0]).line,
    path: '',
    message: describeSyntax(error.code, error.message, /^["']?([^"':\n]*)/.exec(text.slice(error.pos[0]))?.[1] ?? ''),
  }));
  const [first] = problems;
  if (first !== undefined && !looksLikeSettings(document))
    throw new CampaignFileError(path, [{ ...first, message: `this is no campaign file; ${first.message}` }]);
  problems.push(...findOddText(document, lines));
  if (problems.length > 0) throw new CampaignFileError(path, problems);
  return { content: toPlain(path, document), lineOf: (at) => lineAt(document, lines, at) };
}

/** True when listing all faults is worthwhile: the text begins with a name, unlike a list or a web page. */
function looksLikeSettings({ contents }: Document): boolean {
  const key = isMap(contents) ? contents.items[0]?.key : null;
  return isScalar(key) && /^\w+$/.test(String(key.value));
}

async function readBytes(path: string): Promise<Uint8Array> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) refuse(path, 'this is a folder; name the campaign file inside it');
    if (found.isFile() && found.size > largestBytes) {
      refuse(path, `${String(found.size)} bytes are too many for a campaign file; recipients belong in the list it names`);
    }
    return await readFile(path);
  } catch (error) {
    if (error instanceof CampaignFileError) throw error;
    return refuse(path, describeFileError(error), error);
  }
}

function decode(path: string, bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (text.includes('\0')) refuse(path, 'this is not a text file; a campaign file is YAML in UTF-8');
    if (text.trim() === '') refuse(path, 'the file is empty; see examples/reminders/campaign.yaml for a complete one');
    return text;
  } catch (error) {
    if (error instanceof CampaignFileError) throw error;
    return refuse(path, 'this is not UTF-8 text; save it with the encoding UTF-8', error);
  }
}

function refuse(path: string, message: string, cause?: unknown): never {
  throw new CampaignFileError(path, [{ line: null, path: '', message }], { cause });
}

function toPlain(path: string, document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: mostAliases });
  } catch (error) {
    // The library's message names the anchor, or reports too many aliases.
    return refuse(path, `${error instanceof Error ? error.message : String(error)}; write the values out`, error);
  }
}

/** `at`: the word at which the error shows. */
function describeSyntax(code: string, message: string, at: string): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return `${JSON.stringify(at.trim())} stands for the second time; keep one of them`;
    case 'TAB_AS_INDENT':
      return 'a tab indents this line; use spaces';
    case 'NON_STRING_KEY':
      return 'this is not a name; put text that begins with {{ in quotes';
    case 'MULTIPLE_DOCS':
      return 'a second document begins here; a campaign file holds one';
    default:
      return /call stack/i.test(message) ? 'brackets are nested too deeply' : `this is not YAML: ${message}`;
  }
}

/** Finds forbidden characters, and `__proto__` as a name, which could alter the program's own objects. */
function findOddText(document: Document, lines: LineCounter): CampaignProblem[] {
  const found: CampaignProblem[] = [];
  visit(document, {
    Scalar(_, { value, range }) {
      const fault = typeof value === 'string' ? textFault(value) : null;
      const line = lines.linePos(range?.[0] ?? 0).line;
      if (fault !== null) found.push({ line, path: '', message: `a text that begins here holds ${fault}; remove it` });
    },
    Pair(_, pair) {
      if (!isScalar(pair.key) || pair.key.value !== '__proto__') return;
      const line = lines.linePos(pair.key.range?.[0] ?? 0).line;
      found.push({ line, path: '__proto__', message: 'this name is reserved; choose another' });
    },
  });
  return found;
}

function lineAt(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number | null {
  let node: unknown = document.contents;
  let offset = 0;
  for (const part of path) {
    let next: unknown = null;
    if (isMap(node)) {
      next = node.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === part);
    } else if (isSeq(node) && typeof part === 'number') {
      next = node.items[part];
    }
    if (next === null || next === undefined) break;
    const anchor = isPair(next) ? next.key : next;
    offset = (anchor as { range?: [number, number, number] | null }).range?.[0] ?? offset;
    node = isPair(next) ? next.value : next;
  }
  return lines.linePos(offset).line;
}
