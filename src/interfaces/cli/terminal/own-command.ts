import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandNames } from './help-lines.ts';
import { packageFolder } from '../../../shared/input/package-folder.ts';

/** What a person types here to run this program: `./carillon` in its clone, `npx carillon` where a project has it, else `carillon`. */
export function ownCommand(input: { script: string; folder: string; root: string | null; windows: boolean }): string {
  const { script, folder, root, windows } = input;
  if (root !== null) {
    const way = relative(folder, join(root, windows ? join('dist', 'src', 'cli', 'main.js') : 'carillon'));
    if (windows) return `node ${way}`;
    return way.includes(sep) ? way : `.${sep}${way}`;
  }
  const bin = dirname(script);
  return basename(bin) === '.bin' && basename(dirname(bin)) === 'node_modules' ? 'npx carillon' : 'carillon';
}

/** The clone that this file runs from, which has a launcher at its root; null for an installed package. */
export function cloneRoot(): string | null {
  for (const way of ['../../../..', '../../../../..']) {
    const root = fileURLToPath(new URL(way, import.meta.url));
    if (existsSync(join(root, 'carillon')) && existsSync(join(root, 'package.json'))) return root;
  }
  return null;
}

const mention = new RegExp(`(?<![\\w./-])carillon(?= (?:(?:${commandNames.join('|')}|help)(?![\\w.])|--help\\b|[[<]))`, 'g');

/** The text with every command of ours as it has to be typed here; other mentions of the name stay. */
export function asTyped(text: string, own: string): string {
  return own === 'carillon' ? text : text.replaceAll(mention, () => own);
}

/** Commands whose standard output has texts of others in it, which are not ours to change. */
const dataCommands = new Set(['agents', 'completion', 'conversations', 'numbers', 'report', 'results', 'schema']);

/** Whether standard output is data, and not words to a person. */
export function answersWithData(args: readonly string[]): boolean {
  return args.includes('--json') || dataCommands.has(args[0] ?? '');
}

/** A stream for words to a person: what they tell to type works here. */
export function speaking(stream: NodeJS.WritableStream, own: string): NodeJS.WritableStream {
  return new Proxy(stream, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (key === 'write') {
        return (chunk: string | Uint8Array, ...rest: []) => target.write(typeof chunk === 'string' ? asTyped(chunk, own) : chunk, ...rest);
      }
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Carillon's version, from its package.json. */
export function readVersion(): string {
  const parsed = JSON.parse(readFileSync(packageFolder('package.json'), 'utf8')) as { version: string };
  return parsed.version;
}
