import { createInterface } from 'node:readline';
import { createInterface as createPrompt } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { UsageError } from '../../../shared/input/errors.ts';

/** What a command may ask of whoever called it: standard input, and the person at the terminal if there is one. */
export interface PersonInput {
  /** Whether somebody sits there who can answer a question. */
  isInteractive: boolean;
  confirm(question: string): Promise<boolean>;
  /** One line, not echoed. Throws AnswerMissingError when the input ends instead. */
  askSecret(question: string): Promise<string>;
  /** All of standard input. Throws UsageError the second time: it can be read only once. */
  readAll(): Promise<string>;
}

/** Thrown when a question was left without an answer. */
export class AnswerMissingError extends Error {
  override readonly name = 'AnswerMissingError' as const;
  readonly exitCode = 1;
}

export interface InputStreams {
  stdin: NodeJS.ReadableStream;
  /** Where questions are written. */
  stderr: NodeJS.WritableStream;
  isInteractive: boolean;
  confirm: (question: string) => Promise<boolean>;
}

/** The input of this process. */
export function processInput(): PersonInput {
  const { stdin, stderr } = process;
  return inputFrom({ stdin, stderr, isInteractive: stdin.isTTY, confirm: confirmOnTerminal });
}

export function inputFrom({ stdin, stderr, isInteractive, confirm }: InputStreams): PersonInput {
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

/** Asks a question on the terminal; true for yes. */
async function confirmOnTerminal(question: string): Promise<boolean> {
  const prompt = createPrompt({ input: process.stdin, output: process.stderr });
  const given = new AbortController();
  // Ctrl-C and the end of input are a no.
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

/** `terminal` makes readline take over the echo, and what it would echo goes nowhere. */
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
