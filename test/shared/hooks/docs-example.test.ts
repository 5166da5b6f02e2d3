import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { readNetworks } from '../../../src/shared/hooks/networks.ts';
import { askPreDial, readAnswer, type PreDialQuestion } from '../../../src/shared/hooks/pre-dial.ts';
import { readSigningKeys, signedHeaders } from '../../../src/shared/hooks/signature.ts';
import { sendJson, startHookServer } from './hook-server.ts';

const page = await readFile(new URL('../../../docs/hooks.md', import.meta.url), 'utf8');
const at = Date.UTC(2030, 0, 15, 12);

/** The block of the page behind these words. */
function block(info: string): string {
  const [, text] = new RegExp(`^\`\`\`${info}\n(.*?)^\`\`\``, 'ms').exec(page) ?? [];
  if (text === undefined) throw new Error(`docs/hooks.md has no block ${info}`);
  return text;
}

type Headers = Record<string, string | undefined>;
interface Documented {
  isFromCarillon: (headers: Headers, body: string, secret: string, nowSeconds?: number) => boolean;
  readHook: (headers: Headers, body: string, secret: string) => unknown;
}

/** A block of code of the page, as a module of this project. */
async function load(info: string): Promise<Documented> {
  const folder = await mkdtemp(fileURLToPath(new URL('.documented-', import.meta.url)));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'documented.mjs'), block(info));
  return (await import(pathToFileURL(join(folder, 'documented.mjs')).href)) as Documented;
}

const body = '{"event":"campaign.ended","note":"Schön"}';
const secrets = { plain: 'a-secret-for-tests-only', encoded: `whsec_${Buffer.alloc(32, 7).toString('base64')}` };

function sign(written: string, atMs: number): Record<string, string> {
  return signedHeaders(readSigningKeys(written) ?? [], { id: 'spring/1', body, atMs });
}

test.each(Object.values(secrets))('the documented check takes what Carillon signs, and nothing else: %s', async (own) => {
  const { isFromCarillon } = await load('js verify');
  const headers = sign(own, at);
  const now = at / 1000;
  expect(isFromCarillon(headers, body, own, now + 299)).toBe(true);
  expect(isFromCarillon(headers, body, own, now + 301)).toBe(false);
  expect(isFromCarillon(headers, body, own, now - 301)).toBe(false);
  expect(isFromCarillon(headers, `${body} `, own, now)).toBe(false);
  expect(isFromCarillon(headers, body, 'another-secret-for-tests', now)).toBe(false);
  for (const [name, value] of [
    ['webhook-timestamp', String(now + 1)],
    ['webhook-timestamp', undefined],
    ['webhook-id', 'spring/2'],
    ['webhook-signature', undefined],
    ['webhook-signature', 'v1,AAAA'],
  ] as const)
    expect(isFromCarillon({ ...headers, [name]: value }, body, own, now), `${name} ${value}`).toBe(false);
});

test('what Carillon signs is taken by the package of Standard Webhooks', async () => {
  const { readHook } = await load('js library');
  const headers = sign(secrets.encoded, Date.now());
  expect(readHook(headers, body, secrets.encoded)).toEqual(JSON.parse(body));
  expect(() => readHook(headers, `${body} `, secrets.encoded)).toThrow('No matching signature found');
  expect(() => readHook({ ...headers, 'webhook-id': 'other' }, body, secrets.encoded)).toThrow('No matching signature');
  expect(() => readHook(sign(secrets.encoded, 0), body, secrets.encoded)).toThrow('too old');
  const raw = new Webhook(secrets.plain, { format: 'raw' });
  expect(raw.verify(body, sign(secrets.plain, Date.now()))).toEqual(JSON.parse(body));
});

test('while the secret changes, the receiver may have the new one or the old one', async () => {
  const { readHook } = await load('js library');
  const next = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
  const headers = sign(`${next} ${secrets.encoded}`, Date.now());
  for (const known of [next, secrets.encoded]) expect(readHook(headers, body, known)).toEqual(JSON.parse(body));
});

test.each(['short-one', 'whsec_', 'whsec_YWJj', `whsec_${'A'.repeat(40)}!`, `whsec_${Buffer.alloc(65).toString('base64')}`])(
  'a secret that no receiver could use is refused: %s',
  (written) => expect(readSigningKeys(written)).toBeNull(),
);

test('the documented question is the one that is asked, and the documented answer one that is understood', async () => {
  const { event, ...question } = JSON.parse(block('json pre_dial')) as PreDialQuestion & { event: string };
  const answer = block('json pre_dial answer');
  const hook = await startHookServer((response) => sendJson(response, JSON.parse(answer)));
  const verdicts = await askPreDial(question, {
    url: hook.url,
    secret: secrets.plain,
    networks: readNetworks('127.0.0.1') ?? undefined,
    eventId: 'one',
    timeoutMs: 20_000,
    nowReal: () => at,
    readVariable: () => undefined,
    stopping: new AbortController().signal,
  });
  expect(hook.calls[0]?.body).toEqual({ event, ...question });
  expect(event).toBe('pre_dial');
  const refs = question.recipients.map(({ ref }) => ref);
  expect(verdicts).toEqual(readAnswer(answer, refs));
  expect([...verdicts.values()]).toEqual([
    { kind: 'eligible' },
    { kind: 'refused', code: 'no_consent' },
    { kind: 'later', afterMs: 7_200_000 },
  ]);
});
