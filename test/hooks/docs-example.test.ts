import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { askPreDial, readAnswer, type PreDialQuestion } from '../../src/hooks/pre-dial.ts';
import { signatureOf } from '../../src/hooks/signature.ts';
import { sendJson, startHookServer } from './hook-server.ts';

const page = await readFile(new URL('../../docs/hooks.md', import.meta.url), 'utf8');
const secret = 'a-secret-for-tests-only';
const at = Date.UTC(2030, 0, 15, 12);

/** The block of the page behind these words. */
function block(info: string): string {
  const [, text] = new RegExp(`^\`\`\`${info}\n(.*?)^\`\`\``, 'ms').exec(page) ?? [];
  if (text === undefined) throw new Error(`docs/hooks.md has no block ${info}`);
  return text;
}

type Verify = (header: string | undefined, body: string, secret: string, nowSeconds?: number) => boolean;

test('the documented check takes what Carillon signs, and nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-docs-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'verify.mjs'), block('js verify'));
  const { isFromCarillon } = (await import(pathToFileURL(join(folder, 'verify.mjs')).href)) as {
    isFromCarillon: Verify;
  };
  const body = '{"event":"campaign.ended"}';
  const header = signatureOf(secret, body, at);
  const now = at / 1000;
  expect(isFromCarillon(header, body, secret, now + 299)).toBe(true);
  expect(isFromCarillon(header, body, secret, now + 301)).toBe(false);
  expect(isFromCarillon(header, body, secret, now - 301)).toBe(false);
  expect(isFromCarillon(header, `${body} `, secret, now)).toBe(false);
  expect(isFromCarillon(header, body, 'another-secret-for-tests', now)).toBe(false);
  expect(isFromCarillon(header.replace(String(now), String(now + 1)), body, secret, now)).toBe(false);
  for (const broken of [undefined, '', 't=1', 'v1=00', `t=${now},v1=00`, header.replace('t=', 'x=')])
    expect(isFromCarillon(broken, body, secret, now), broken).toBe(false);
});

test('the documented question is the one that is asked, and the documented answer one that is understood', async () => {
  const { event, ...question } = JSON.parse(block('json pre_dial')) as PreDialQuestion & { event: string };
  const answer = block('json pre_dial answer');
  const hook = await startHookServer((response) => sendJson(response, JSON.parse(answer)));
  const verdicts = await askPreDial(question, {
    url: hook.url,
    secret,
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
