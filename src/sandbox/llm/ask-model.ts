import { createRequire } from 'node:module';
import { z } from 'zod';
import { refuseHost, type Outbound } from '../core/allowed-host.ts';
import { parseJson } from '../core/json.ts';

/** Never quotes the model, which may echo a credential. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure' as const;
}

export interface ModelQuestion {
  /** Base or full address. */
  url: string;
  /** Secret: sent, never shown. */
  headers: Readonly<Record<string, string>>;
  /** Of `POST /chat/completions`. */
  body: object;
  /** Real ms without part of the answer after which the model has failed. */
  silenceMs: number;
}

export interface ModelAnswer {
  text: string;
  /** Arguments with which it ends the conversation; null when it does not. */
  end: Record<string, unknown> | null;
}

/** The only tool offered to a model: it ends the conversation. */
export const endCall = 'end_call';

const wholeMs = 60_000;
const longestAnswer = 1_048_576;
/** The HTTP client loads on first use: most sandboxes need none. */
const load = createRequire(import.meta.url);

/** Asks once, streaming, without redirects. Throws `ModelFailure`. */
export async function askModel(question: ModelQuestion, outbound: Outbound, given: AbortSignal): Promise<ModelAnswer> {
  const { headers, silenceMs } = question;
  const refusal = refuseHost(question.url, outbound);
  if (refusal !== null) throw new ModelFailure(refusals[refusal]);
  const { request } = load('undici') as typeof import('undici');
  const theirs = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const over = new AbortController();
  const silence = setTimeout(() => over.abort(new ModelFailure(`the model was silent for ${silenceMs / 1_000} s`)), silenceMs);
  const signal = AbortSignal.any([given, over.signal, AbortSignal.timeout(wholeMs)]);
  try {
    const responsePromise = request(completionsAddress(question.url), {
      method: 'POST',
      headers: {
        ...Object.fromEntries(theirs.filter(([name]) => !ofConnection.test(name))),
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'accept-encoding': 'identity',
      },
      body: JSON.stringify(question.body),
      reset: true,
      headersTimeout: 0,
      bodyTimeout: 0,
      signal,
    });
    // The HTTP client ignores the signal while connecting.
    const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const { statusCode, body } = await Promise.race([responsePromise, aborted]);
    if (statusCode !== 200) throw new ModelFailure(`HTTP ${statusCode}`);
    const dataLines = dataIn(body, () => silence.refresh());
    return await readAnswer(dataLines, (words) => withoutSecrets(words, Object.values(headers)));
  } catch (error) {
    if (error instanceof ModelFailure) throw error;
    const { code, name } = error as { code?: unknown; name?: unknown };
    const why = String(typeof code === 'string' ? code : name);
    throw new ModelFailure(`no connection, or one that broke off (${why})`, { cause: error });
  } finally {
    clearTimeout(silence);
    over.abort();
  }
}

/** Other lines, such as comments, do not count as progress. */
async function* dataIn(body: AsyncIterable<Uint8Array>, onData: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let [line, bytes] = ['', 0];
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > longestAnswer) throw new ModelFailure('the model sent more than 1 MiB');
    const [first = '', ...more] = decoder.decode(piece, { stream: true }).split(/[\r\n]/);
    const lines = [line + first, ...more];
    line = lines.pop() ?? '';
    for (const whole of lines) {
      if (!whole.startsWith('data:')) continue;
      onData();
      yield whole.slice(5);
    }
  }
  if (line.startsWith('data:')) yield line.slice(5);
}

/** Owned by the connection; configured headers must not set them. */
const ofConnection = /^(?:host|connection|keep-alive|upgrade|te|trailer|expect|content-length|transfer-encoding)$/;

const refusals = {
  unreadable: 'the address cannot be read; give one such as http://127.0.0.1:8080/v1',
  protocol: 'the address must begin with http:// or https://',
  user: 'the address must hold no user name or password; send credentials in a header',
  itself: 'the sandbox does not connect to itself',
  foreign: 'the sandbox connects only to this machine, or to a host that allowOutbound (--allow-outbound) names',
};

const completionsPath = '/chat/completions';

/** Completions URL for a base or full `url`; a query stays. */
export function completionsAddress(url: string): string {
  const address = new URL(url);
  const path = address.pathname.replace(/\/+$/, '');
  address.pathname = path.endsWith(completionsPath) ? path : path + completionsPath;
  address.hash = '';
  return address.href;
}

const tool = z.looseObject({ function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish() });
const delta = z.looseObject({ content: z.string().nullish(), tool_calls: z.array(tool).nullish() });
/** Lenient: servers of this contract differ in everything but what is read here. */
const answerPart = z.looseObject({ choices: z.array(z.looseObject({ delta: delta.nullish() })) });

async function readAnswer(stream: AsyncIterable<string>, clean: (words: string) => string): Promise<ModelAnswer> {
  let [text, name, parameters] = ['', '', ''];
  for await (const data of stream) {
    // Some servers end without it.
    if (data.trim() === '[DONE]') break;
    const part = answerPart.safeParse(parseJson(data));
    if (!part.success) throw new ModelFailure('the model answered something that is no chat completion');
    const { content, tool_calls: tools } = part.data.choices[0]?.delta ?? {};
    text += content ?? '';
    for (const { function: used } of tools ?? []) {
      name ||= used?.name ?? '';
      parameters += used?.arguments ?? '';
    }
  }
  const end = name === endCall ? parseJson(clean(parameters || '{}')) : undefined;
  if (text.trim() === '' && name !== endCall) throw new ModelFailure('the model answered without a word');
  return { text: clean(text), end: name !== endCall ? null : z.record(z.string(), z.unknown()).catch({}).parse(end) };
}

const shortestSecret = 8;

/** A model may echo credentials, with or without a scheme such as Bearer. */
function withoutSecrets(text: string, credentials: readonly string[]): string {
  const secrets = credentials.flatMap((value) => [value, ...value.split(/\s+/).slice(1)]).filter(({ length }) => length >= shortestSecret);
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text);
}
