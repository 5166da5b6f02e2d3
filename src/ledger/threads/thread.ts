import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

/** The program of a thread beside the file at `beside`: as built, or as it stands in the sources. */
export function programBeside(name: string, beside: string): URL {
  return new URL(`./${name}.${beside.endsWith('.ts') ? 'ts' : 'js'}`, beside);
}

/** Of memory for what is thrown away at once: with V8's own 48 MB each thread takes as much before it tidies up. */
const resourceLimits = { maxYoungGenerationSizeMb: 6 };

/** Starts a program in a thread. In the sources it is TypeScript, which a thread learns to read first. */
export function startThread(program: URL, workerData: unknown): Worker {
  if (program.pathname.endsWith('.js')) return new Worker(program, { workerData, resourceLimits });
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const loader = new URL('./dist/esm/api/index.mjs', tsx).href;
  const begin = `import(${JSON.stringify(loader)}).then(({ register }) => {
    register();
    return import(${JSON.stringify(program.href)});
  });`;
  return new Worker(begin, { eval: true, workerData, resourceLimits });
}

/** An error as it crosses over from a thread: what is told of it, and what it is known by. */
export interface CarriedError {
  name: string;
  message: string;
  stack: string | undefined;
  /** Its own properties, such as `code` and `isBadInput`, as far as they are plain values. */
  facts: Record<string, unknown>;
  cause: CarriedError | null;
}

export function carryError(thrown: unknown): CarriedError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const facts = Object.entries(error).filter(([, value]) => isPlain(value));
  const cause = error.cause instanceof Error ? carryError(error.cause) : null;
  return { name: error.name, message: error.message, stack: error.stack, facts: Object.fromEntries(facts), cause };
}

/** An error with the same name, words and facts; of another class. */
export function revivedError({ name, message, stack, facts, cause }: CarriedError): Error {
  const error = new Error(message, cause === null ? {} : { cause: revivedError(cause) });
  return Object.assign(error, facts, { name, stack });
}

function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isPlain);
  if (typeof value === 'object' && value !== null)
    return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isPlain);
  return typeof value !== 'function' && typeof value !== 'symbol';
}
