import { InvalidArgumentError, Option, type Command } from 'commander';
import { fieldAt, readBodyFile, withField, type Body } from '../terminal/body-file.ts';
import { type PersonInput, readSecret } from '../terminal/person-input.ts';
import { UsageError } from '../../../shared/input/errors.ts';

/** Flags that describe an agent, as typed. */
export interface AgentFlags {
  file?: string;
  name?: string;
  tag?: string[];
  firstMessage?: string;
  prompt?: string;
  voice?: string;
  voiceModel?: string;
  model?: string;
  temperature?: number;
  llmUrl?: string;
  llmHeader?: string[];
  llmHeaderFile?: string[];
  clear?: string[];
}

type TextFlag = 'name' | 'firstMessage' | 'prompt' | 'voice' | 'voiceModel' | 'model' | 'temperature' | 'llmUrl';

const llm = ['conversation_config', 'agent', 'llm'];

/** Where each flag's value stands in the body. */
const places: readonly (readonly [TextFlag, string, readonly string[]])[] = [
  ['name', '--name', ['name']],
  ['firstMessage', '--first-message', ['conversation_config', 'agent', 'first_message']],
  ['prompt', '--prompt', ['conversation_config', 'agent', 'prompt', 'prompt']],
  ['voice', '--voice', ['conversation_config', 'tts', 'voice_id']],
  ['voiceModel', '--voice-model', ['conversation_config', 'tts', 'model_id']],
  ['model', '--model', [...llm, 'model_id']],
  ['temperature', '--temperature', [...llm, 'temperature']],
  ['llmUrl', '--llm-url', [...llm, 'custom_llm', 'url']],
];

export function addAgentFlags(command: Command): Command {
  return command
    .option('-f, --file <file>', 'settings as JSON or YAML, - for standard input; flags override them')
    .option('--name <text>', 'name shown in lists')
    .addOption(new Option('--tag <text>', 'tag; repeat for more').argParser(collect))
    .option('--first-message <text>', 'opening line of the agent')
    .option('--prompt <text>', 'role, goal and limits of the agent')
    .option('--voice <id>', 'voice')
    .option('--voice-model <id>', 'text-to-speech model')
    .option('--model <id>', 'language model; custom for your own model, with --llm-url')
    .addOption(new Option('--temperature <number>', 'from 0.0 to 1.0').argParser(readTemperature))
    .option('--llm-url <address>', 'address of your own language model')
    .addOption(new Option('--llm-header <name>', 'header for it; the command prompts for the value').argParser(collect))
    .addOption(new Option('--llm-header-file <name=file>', 'header for it, with its value in a file').argParser(collect));
}

/** The settings that file and flags describe together, and the secrets among them. Throws UsageError. */
export async function readAgentBody(input: PersonInput, flags: AgentFlags): Promise<{ body: Body; secrets: readonly string[] }> {
  let body: Body = flags.file === undefined ? {} : await readBodyFile(input, flags.file);
  for (const [flag, name, path] of places) if (flags[flag] !== undefined) body = withField(body, path, flags[flag], name);
  if (flags.tag !== undefined) body = { ...body, tags: flags.tag };
  // Who names an address of their own wants it to be used.
  if (flags.llmUrl !== undefined && fieldAt(body, [...llm, 'model_id']) === undefined)
    body = withField(body, [...llm, 'model_id'], 'custom', '--llm-url');
  const headers = await readHeaders(input, flags);
  for (const [name, value] of headers) body = withField(body, [...llm, 'custom_llm', 'extra_headers', name], value, '--llm-header');
  for (const field of flags.clear ?? []) body = withField(body, clearedPath(field), null, '--clear');
  return { body, secrets: headers.map(([, value]) => value) };
}

async function readHeaders(input: PersonInput, flags: AgentFlags): Promise<[string, string][]> {
  const headers: [string, string][] = [];
  for (const pair of flags.llmHeaderFile ?? []) {
    const [, name = '', file = ''] = /^([^=]+)=(.+)$/s.exec(pair) ?? [];
    if (name === '') throw new UsageError('--llm-header-file takes a name and a file, as in authorization=key.txt.');
    headers.push([checkHeaderName(name), await readHeader(input, name, file)]);
  }
  for (const name of flags.llmHeader ?? []) headers.push([checkHeaderName(name), await readHeader(input, name, undefined)]);
  return headers;
}

function readHeader(input: PersonInput, name: string, file: string | undefined): Promise<string> {
  return readSecret(input, { what: `the value of header ${name}`, file, fileFlag: `--llm-header-file ${name}=FILE` });
}

/** A value written behind the name is a secret on a command line: it is not repeated. */
function checkHeaderName(name: string): string {
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return name;
  throw new UsageError(
    "Give the header's name alone, such as --llm-header authorization. Its value is asked for, or read with --llm-header-file <name=file>: what stands on a command line can be read by others, and if it was a secret it should be changed.",
  );
}

function clearedPath(field: string): string[] {
  if (/^[a-z]\w*(\.[a-z]\w*)*$/i.test(field)) return ['conversation_config', ...field.split('.')];
  throw new UsageError(`--clear ${field}: name a field of conversation_config with dots between, such as agent.first_message.`);
}

export function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

function readTemperature(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError('Write a number from 0.0 to 1.0.');
}
