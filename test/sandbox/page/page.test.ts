import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { html } from '../../../src/presentation/html/html.ts';
import { apiKey, browserTest, fillSandbox, look, ownKey, startPageSandbox, test, type PageSandbox } from './window.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { batchOf, imported } from '../harness.ts';
import { fillForPictures } from './pictured-sandbox.ts';

const folders = ['sandbox/page', 'presentation/html'].map((at) => new URL(`../../../src/${at}/browser/`, import.meta.url));
const files = new Map(folders.flatMap((folder) => readdirSync(folder).map((name) => [name, new URL(name, folder)])));
const scripts = [...files.keys()].filter((name) => name.endsWith('.js'));
const assets = ['page.css', 'icon.svg', ...scripts].map((name) => `/_page/${name}`);
const controlToken = 'token-of-the-page-test-0123';

async function read(sandbox: PageSandbox, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(sandbox.url + path, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test('every value in markup is escaped, in text and in attributes, and markup is not', () => {
  const hostile = `<script>alert("x")</script>&'`;
  const escaped = '&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;&#39;';
  expect(html`<p title="${hostile}">${hostile}${html`<b>${hostile}</b>`}${[hostile, 1, null, false]}</p>`.text).toBe(
    `<p title="${escaped}">${escaped}<b>${escaped}</b>${escaped}1</p>`,
  );
});

test('every view is a page of its own that allows nothing from elsewhere, nothing inline and no frame around it', async ({ sandbox }) => {
  expect(scripts).toContain('page.js');
  const views = await fillSandbox(sandbox);
  for (const path of [...views, '/?view=call&id=none', '/?view=agent&id=none', '/?view=request&id=none', '/?view=toString', ...assets]) {
    const { status, headers, text } = await read(sandbox, path);
    expect([path, status]).toEqual([path, /nothing|none|toString/.test(path) ? 404 : 200]);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:|blob:/);
    expect(text).not.toMatch(/<script(?![^>]* src="\/_page\/(?:page|idiomorph)\.js")|<style|\sstyle=|\son\w+="|javascript:/i);
    const addresses = [...text.matchAll(/(?:src|href|action)="([^"]*)"/g)].map(([, address]) => address);
    for (const address of addresses) expect(address).toMatch(/^[/#]/);
    const script = /\/_page\/(.*\.js)$/.exec(path)?.[1];
    if (script !== undefined) {
      expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      expect(text).toBe(readFileSync(files.get(script) ?? '', 'utf8'));
    } else if (!assets.includes(path)) {
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(text).toContain('<h1>');
    }
  }
  const page = await readPage(sandbox, '/');
  const heads = [...page.matchAll(/<th scope="col">([^<]+)</g)].map(([, name]) => name);
  expect(heads).toEqual(expect.arrayContaining(['Direction', 'Duration', 'Talk time']));
  expect(page).toMatch(/<option value="in_progress"\s*>On the line<\/option/);
});

test('no API key and no secret is in the page, its script or its data, not even where a request or a fault named one', async ({
  sandbox,
}) => {
  const secret = 'not-to-be-shown-anywhere';
  const views = await fillSandbox(sandbox);
  await sandbox.ask('GET', `/v1/convai/agents?api_key=${ownKey}`);
  await sandbox.ask('POST', '/v1/convai/agents', { name: `The key is ${apiKey}`, note: ownKey });
  await sandbox.ask('DELETE', '/_sandbox/faults');
  const custom_llm = { url: 'http://127.0.0.1:9/v1', extra_headers: { 'x-pass': secret } };
  const agent = { name: 'With a model of its own', conversation_config: { agent: { llm: { model_id: 'custom', custom_llm } } } };
  const { body } = await sandbox.ask('POST', '/v1/convai/agents', agent);
  await sandbox.ask('POST', '/v1/convai/phone-numbers', { ...imported, telephony_auth_token: secret });
  const requests = sandbox.journal().map(({ sequence }) => `/?view=request&id=${sequence}`);
  const shown = [...views, ...requests, `/?view=agent&id=${body.agent_id}`];
  for (const path of [...shown, ...shown.map((view) => `/_sandbox/page${view.slice(1)}`), ...assets]) {
    const { text } = await read(sandbox, path);
    for (const hidden of [apiKey, ownKey, secret]) expect(text.includes(hidden), `${path} holds ${hidden}`).toBe(false);
  }
  expect((await read(sandbox, `/?view=agent&id=${body.agent_id}`)).text).toContain('x-pass');
});

test('with a control token the page is empty, and its data is given for the token only, a recording for its signed address', async () => {
  const sandbox = await startPageSandbox({ controlToken });
  await sandbox.batch('+12125550100');
  const empty = await read(sandbox, '/?view=agents');
  expect([empty.status, empty.text.includes('Control token')]).toEqual([200, true]);
  expect(empty.text).not.toMatch(/agent_reminders|Appointment|2125550100|2030/);
  expect((await read(sandbox, '/_sandbox/page')).status).toBe(401);
  expect((await read(sandbox, '/_sandbox/page', { authorization: 'Bearer something-else-entirely' })).status).toBe(401);
  const given = await read(sandbox, '/_sandbox/page', { authorization: `Bearer ${controlToken}` });
  expect([given.status, given.text.includes('+12125550100')]).toEqual([200, true]);
  for (const { text } of [empty, given]) expect(text).not.toContain(controlToken);
  for (const path of assets) expect((await read(sandbox, path)).status).toBe(200);
  await sandbox.advance(3600);
  const recording = `/_page/recordings/${sandbox.calls()[0]?.conversationId}`;
  expect((await read(sandbox, recording)).status).toBe(401);
  expect((await read(sandbox, `${recording}?expires=99999999999&signature=AAAA`)).status).toBe(403);
});

test('looking at the page stands in no journal and is nothing that the caller did', async ({ sandbox }) => {
  const views = await fillSandbox(sandbox);
  const before = sandbox.journal().length;
  const { checks } = sandbox.conduct();
  for (const path of [...views, ...assets, '/openapi.json', '/_sandbox/page']) await read(sandbox, path);
  const recording = /src="(\/_page\/recordings\/[^"]+)"/.exec(await readPage(sandbox, views[1] ?? ''))?.[1]?.replaceAll('&amp;', '&') ?? '';
  expect((await read(sandbox, recording)).headers.get('content-type')).toBe('audio/wav');
  expect(sandbox.journal()).toHaveLength(before);
  expect(sandbox.conduct().checks).toEqual(checks);
});

test('what was said is not shown before it is said, nor after the record was deleted', async ({ sandbox }) => {
  await sandbox.batch('+12125550100');
  const view = async () => (await read(sandbox, `/?view=call&id=${sandbox.calls()[0]?.callId}`)).text;
  const turns = async () => (await view()).match(/class="said"/g)?.length ?? 0;
  expect(await turns()).toBe(0);
  await sandbox.advance(12);
  const early = await turns();
  await sandbox.advance(3600);
  const all = await turns();
  expect(early).toBeGreaterThan(0);
  expect(early).toBeLessThan(all);
  await sandbox.ask('DELETE', `/v1/convai/conversations/${sandbox.calls()[0]?.conversationId}`);
  expect(await turns()).toBe(0);
  expect(await view()).toContain('was deleted');
  expect(await view()).not.toContain('<audio');
});

test('calls are filtered by state, batch and number, and come page by page', async () => {
  const sandbox = await startPageSandbox({ concurrency: 100 });
  const first = await sandbox.batch('+12125550100', '+12125550101');
  const many = Array.from({ length: 60 }, (_, index) => `+1312555${String(100 + index).padStart(4, '0')}`);
  await sandbox.batch(...many.filter((number) => !number.endsWith('0120')));
  await sandbox.advance(7200);
  const numbers = async (query: string) =>
    [...(await read(sandbox, `/?view=calls${query}`)).text.matchAll(/id="call-[^"]+"[\s\S]*?>(\+\d+)</g)].map(([, to]) => to);
  expect(await numbers(`&batch=${first}`)).toEqual(['+12125550101', '+12125550100']);
  expect(await numbers('&number=2125550101')).toEqual(['+12125550101']);
  expect(await numbers('&state=queued')).toEqual([]);
  const pages = [...(await numbers('')), ...(await numbers('&skip=50'))];
  expect(await numbers('')).toHaveLength(50);
  expect(pages).toEqual(
    sandbox
      .calls()
      .map(({ to }) => to)
      .toReversed(),
  );
});

const readPage = async (sandbox: PageSandbox, path: string): Promise<string> => (await read(sandbox, path)).text;

/** What a part of the page says, without its markup. */
function textOf(markup: string, from: RegExp): string {
  const [part = ''] = from.exec(markup) ?? [];
  return part.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

test('calls that wait are folded into their number, with the next one first', async () => {
  const sandbox = await startPageSandbox({ concurrency: 1 });
  const numbers = Array.from({ length: 30 }, (_, index) => `+13125550${130 + index}`);
  await sandbox.batch('+12125550109', ...numbers);
  const page = await readPage(sandbox, '/');
  expect(page.match(/id="live-/g)).toHaveLength(1);
  expect(textOf(page, /<summary>[^]*?<\/summary>/).trim()).toBe('30 calls waiting, next +13125550130');
  const folded = /<details id="waiting">[^]*?<\/details>/.exec(page)?.[0] ?? '';
  const shown = [...folded.matchAll(/<span class="phone num">(\+\d+)<\/span>\s*<\/a>/g)].map(([, to]) => to);
  expect(shown).toEqual(numbers.slice(0, 20));
  expect(folded).toContain('and 10 more calls after these');
  expect(folded).not.toContain(' open');
});

test('a call that is scheduled waits behind those that want a line now', async () => {
  const sandbox = await startPageSandbox({ concurrency: 1 });
  const scheduled_time_unix = sandbox.clock.now() / 1000 + 3_600;
  await sandbox.ask('POST', '/v1/convai/batch-calling/submit', batchOf(['+13125550130'], { scheduled_time_unix }));
  expect(textOf(await readPage(sandbox, '/'), /<details id="waiting">[^]*?<\/summary>/)).toContain('1 call waiting, next');
  await sandbox.batch('+12125550109', '+13125550131');
  const page = await readPage(sandbox, '/');
  expect(textOf(page, /<summary>[^]*?<\/summary>/).trim()).toBe('2 calls waiting, next +13125550131');
  expect(textOf(page, /<details id="waiting">[^]*?<\/details>/)).toMatch(/\+13125550130 Not yet 13:00:00 UTC/);
});

browserTest('whoever unfolds the waiting calls still sees them when the next one is dialled', async () => {
  const sandbox = await startPageSandbox({ concurrency: 1 });
  await sandbox.batch('+12125550101', '+12125550109', '+13125550130', '+13125550131');
  const { page } = await look(sandbox);
  await page.locator('.live[data-link="on"]:visible').waitFor();
  await page.locator('#waiting summary', { hasText: '3 calls waiting, next +12125550109' }).click();
  await sandbox.advance(60);
  await page.locator('#waiting summary', { hasText: '2 calls waiting, next +13125550130' }).waitFor();
  await page.locator('#waiting tbody tr', { hasText: '+13125550131' }).waitFor();
  expect(await page.locator('#waiting tbody tr').count()).toBe(2);
});

test('deliveries to webhooks are shown with each attempt, its answer, and when the next one is', async ({ sandbox }) => {
  const { url } = await startReceiver(503);
  const secret = 'not-to-be-shown-anywhere';
  const { body } = await sandbox.ask('POST', '/_sandbox/webhooks', { url, secret, retries: true });
  await sandbox.ask('POST', '/_sandbox/webhooks', { url: 'http://127.0.0.1:9/hook', secret });
  expect(textOf(await readPage(sandbox, '/?view=webhooks'), /<main[^]*<\/main>/)).toContain('Nothing was delivered yet');
  await sandbox.batch('+12125550101');
  await sandbox.advance(10);
  const rows = async (): Promise<string[]> => {
    const page = await readPage(sandbox, '/?view=webhooks');
    expect(page).not.toContain(secret);
    return [...page.matchAll(/<tr id="delivery-[^]*?<\/tr>/g)].map(([row]) => textOf(row, /[^]+/).trim());
  };
  const time = String.raw`\d\d:\d\d:\d\d UTC`;
  const retried = (attempts: string, next: string): RegExp =>
    new RegExp(String.raw`^Nobody answered \S+ \+12125550101 ${url.replaceAll('/', ' ?/')} ${attempts} ${next}$`);
  await expect
    .poll(rows)
    .toEqual([
      expect.stringMatching(retried(`${time} status 503`, time)),
      expect.stringMatching(/Failed .*127\.0\.0\.1:9 \/hook .* no answer : ECONNREFUSED None$/),
    ]);
  await sandbox.advance(60);
  await expect.poll(async () => (await rows())[0]).toMatch(retried(`${time} status 503 ${time} status 200`, 'None'));
  const own = await readPage(sandbox, `/?view=webhooks&webhook=${body.webhook_id}`);
  expect(own.match(/id="delivery-/g)).toHaveLength(1);
  expect(own).toContain(body.webhook_id);
});

browserTest('the answer of a webhook appears on a page whose clock stands', async ({ sandbox }) => {
  const { url } = await startReceiver();
  await sandbox.ask('POST', '/_sandbox/webhooks', { url, secret: 'not-to-be-shown-anywhere' });
  const { page } = await look(sandbox, '/?view=webhooks');
  await page.locator('.live[data-link="on"]:visible').waitFor();
  await sandbox.batch('+12125550101');
  await sandbox.advance(10);
  await page.locator('tr[id^="delivery-"]').getByText('Delivered').waitFor();
});

test('without a webhook the page says how to make one, and in the spec dialect that there is none', async () => {
  const view = async (sandbox: PageSandbox): Promise<string> => textOf(await readPage(sandbox, '/?view=webhooks'), /<main[^]*<\/main>/);
  expect(await view(await startPageSandbox())).toContain('POST /_sandbox/webhooks');
  expect(await view(await startPageSandbox({ dialect: 'spec' }))).toContain('The contract has none');
});

test('the sandbox accepts all that is asked of it for the pictures, its faults included', async () => {
  const sandbox = await startPageSandbox({ seed: 'pictures', concurrency: 8 });
  await fillForPictures(sandbox);
  expect(await readPage(sandbox, '/?view=faults')).toContain('Agents are slow to load');
});
