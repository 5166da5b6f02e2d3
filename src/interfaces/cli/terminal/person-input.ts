import { createInterface } from 'node:readline';
import { createInterface as createPrompt } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { foreseen, UsageError, describeFileError } from '../../../shared/input/errors.ts';
import { capital } from '../../../shared/input/figures.ts';
import { readFile } from 'node:fs/promises';

/** Standard input, and the user at the terminal if there is one. */
export interface UserInput {
  isInteractive: boolean;
  confirm(question: string): Promise<boolean>;
  /** One line, not echoed. Throws AnswerMissingError at the end of input. */
  askSecret(question: string): Promise<string>;
  /** Throws UsageError the second time: standard input can be read only once. */
  readAll(): Promise<string>;
}

/** Thrown when a question got no answer. */
export class AnswerMissingError extends foreseen('AnswerMissingError', false) {}

export interface InputStreams {
  stdin: NodeJS.ReadableStream;
  stderr: NodeJS.WritableStream;
  isInteractive: boolean;
  confirm: (question: string) => Promise<boolean>;
}

export function processInput(): UserInput {
  const { stdin, stderr } = process;
  return inputFrom({ stdin, stderr, isInteractive: stdin.isTTY, confirm: confirmOnTerminal });
}

export function inputFrom({ stdin, stderr, isInteractive, confirm }: InputStreams): UserInput {
  let isRead = false;
  return {
    isInteractive,
    confirm,
    askSecret: (question) => askWithoutEcho(question, stdin, stderr),
    async readAll() {
      if (isRead) throw new UsageError('Standard input (-) can be read for one thing only; name a file for the other.');
      isRead = true;
      const chunks: Buffer[] = [];
      for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
      return Buffer.concat(chunks).toString('utf8');
    },
  };
}

async function confirmOnTerminal(question: string): Promise<boolean> {
  const prompt = createPrompt({ input: process.stdin, output: process.stderr });
  const given = new AbortController();
  // Ctrl-C and the end of input mean no.
  for (const event of ['SIGINT', 'close']) prompt.once(event, () => given.abort());
  try {
    return /^y(es)?$/i.test((await prompt.question(`${question} [y/N] `, { signal: given.signal })).trim());
  } catch (error) {
    if (!given.signal.aborted) throw error;
    process.stderr.write('\n');
    return false;
  } finally {
    prompt.close();
  }
}

/** `terminal` gives readline the echo, which goes to a null stream. */
async function askWithoutEcho(question: string, input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input, output: nowhere, terminal: true, historySize: 0 });
  output.write(`${question}: `);
  try {
    return await new Promise<string>((resolve, reject) => {
      prompt.once('line', resolve);
      for (const event of ['SIGINT', 'close'])
        prompt.once(event, () => reject(new AnswerMissingError('No answer was given, so nothing was sent.')));
    });
  } finally {
    prompt.close();
    output.write('\n');
  }
}

interface SecretSource {
  /** Such as `the auth token`. */
  what: string;
  /** A path, or `-` for standard input; undefined: prompt. */
  file: string | undefined;
  /** Flag that names a file, for the error without a terminal. */
  fileFlag: string;
}

/** From a file or a prompt without echo, never from the command line, which other users can read. Throws UsageError. */
export async function readSecret(input: UserInput, { what, file, fileFlag }: SecretSource): Promise<string> {
  if (file !== undefined) return oneLine(await readSource(input, file, what), `${what} in ${nameOf(file)}`);
  if (!input.isInteractive) {
    throw new UsageError(`There is nobody here to ask for ${what}. Give it in a file: ${fileFlag}, with - for standard input.`);
  }
  return oneLine(await input.askSecret(`${capital(what)} (not shown)`), what);
}

/** `-`: standard input. Throws UsageError. */
export async function readSource(input: UserInput, file: string, what: string): Promise<string> {
  return file === '-' ? input.readAll() : readTextFile(file, file, what);
}

/** Errors call the file `name`. Throws UsageError. */
export async function readTextFile(name: string, path: string, what = 'the file'): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`${name}: ${what} cannot be read: ${describeFileError(cause)}.`, { cause });
  });
}

function oneLine(text: string, name: string): string {
  const value = text.replace(/\r?\n$/, '').trim();
  if (value === '') throw new UsageError(`${capital(name)} is empty.`);
  if (/[\r\n]/.test(value)) throw new UsageError(`${capital(name)} has more than one line; it must be the value alone.`);
  return value;
}

/** Name of a flag's file in messages. */
export function nameOf(file: string): string {
  return file === '-' ? 'standard input' : file;
}
