import { createRequire } from 'node:module';
import { z } from 'zod';
import { refuseHost, type Outbound } from '../core/allowed-host.ts';
import { parseJson } from '../core/json.ts';

/** Thrown when a model gave nothing that an agent could say. Holds nothing that the model said: it may echo a credential. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure' as const;
}

export interface ModelQuestion {
  /** Base or full address. */
  url: string;
  /** Secrets: sent, and never shown. */
  headers: Readonly<Record<string, string>>;
  /** Of `POST /chat/completions`. */
  body: object;
  /** Real milliseconds without a part of the answer after which the model has failed. */
  silenceMs: number;
}

export interface ModelAnswer {
  text: string;
  /** What it says of the end of the conversation; null where it does not end it. */
  end: Record<string, unknown> | null;
}

/** The tool with which a model ends a conversation, the only one that it is offered. */
export const endCall = 'end_call';

const wholeMs = 60_000;
const longestAnswer = 1_048_576;
const lastEvent = /^data: ?\[DONE\]/m;
/** The HTTP client is read with the first question: most sandboxes ask none. */
const load = createRequire(import.meta.url);

/** Asks a model that streams in the chat completions contract, once and without following redirects. Throws `ModelFailure`. */
export async function askModel(question: ModelQuestion, outbound: Outbound, given: AbortSignal): Promise<ModelAnswer> {
  const { headers, silenceMs } = question;
  const refusal = refuseHost(question.url, outbound);
  if (refusal !== null) throw new ModelFailure(refusals[refusal]);
  const { request } = load('undici') as typeof import('undici');
  const theirs = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  let text = '';
  try {
    const { statusCode, body } = await request(completionsAddress(question.url), {
      method: 'POST',
      headers: {
        ...Object.fromEntries(theirs.filter(([name]) => !ofConnection.test(name))),
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'accept-encoding': 'identity',
      },
      body: JSON.stringify(question.body),
      reset: true,
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
      signal: AbortSignal.any([given, AbortSignal.timeout(wholeMs)]),
    });
    body.setEncoding('utf8');
    for await (const piece of body) {
      text += piece as string;
      if (text.length > longestAnswer) throw new ModelFailure(`the answer is longer than ${longestAnswer} characters`);
      // Some servers keep the connection open after their last event.
      if (statusCode !== 200 || lastEvent.test(piece as string)) break;
    }
    if (statusCode !== 200) throw new ModelFailure(`HTTP ${statusCode}`);
  } catch (error) {
    if (error instanceof ModelFailure) throw error;
    const { code, name } = error as { code?: unknown; name?: unknown };
    throw new ModelFailure(`no connection, or one that broke off (${String(code ?? name)})`, { cause: error });
  }
  return readAnswer(text, (words) => withoutSecrets(words, Object.values(headers)));
}

/** They belong to the connection, so that nobody else may set them. */
const ofConnection = /^(?:host|connection|keep-alive|upgrade|te|trailer|expect|content-length|transfer-encoding)$/;

const refusals = {
  unreadable: 'the address cannot be read; give one such as http://127.0.0.1:8080/v1',
  protocol: 'the address must begin with http:// or https://',
  user: 'the address must hold no user name or password; send credentials in a header',
  itself: 'the sandbox does not connect to itself',
  foreign: 'the sandbox connects only to this machine, or to a host that allowOutbound (--allow-outbound) names',
};

const completionsPath = '/chat/completions';

/** The address to post to: `url` may be the base or the whole of it; the path is there once, a query stays. */
export function completionsAddress(url: string): string {
  const address = new URL(url);
  const path = address.pathname.replace(/\/+$/, '');
  address.pathname = path.endsWith(completionsPath) ? path : path + completionsPath;
  address.hash = '';
  return address.href;
}

const tool = z.looseObject({ function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish() });
const delta = z.looseObject({ content: z.string().nullish(), tool_calls: z.array(tool).nullish() });
/** Tolerant: servers that speak this contract differ in everything but what is read here. */
const answerPart = z.looseObject({ choices: z.array(z.looseObject({ delta: delta.nullish() })) });

function readAnswer(stream: string, clean: (words: string) => string): ModelAnswer {
  let [text, name, parameters] = ['', '', ''];
  for (const [, data = ''] of stream.matchAll(/(?<=^|[\r\n])data: ?([^\r\n]*)/g)) {
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

/** Takes credentials out of a text in which a model may echo them, with or without a scheme such as Bearer. */
function withoutSecrets(text: string, credentials: readonly string[]): string {
  const secrets = credentials.flatMap((value) => [value, ...value.split(/\s+/).slice(1)]).filter(({ length }) => length >= shortestSecret);
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text);
}
